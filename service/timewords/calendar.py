"""Which stretch of the calendar is the last Friday, this summer, three weeks ago? In local time, whatever the language."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum

from service.types.facts import Precision


class Leaning(StrEnum):
    """Which way "on Friday" points: a tense says it, a question mostly asks back."""

    PAST = "past"
    FUTURE = "future"


class Which(StrEnum):
    """The word before: last Friday, this Friday, next Friday; or none."""

    LAST = "last"
    THIS = "this"
    NEXT = "next"
    NONE = "none"


class Unit(StrEnum):
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Moment:
    """When something was said, on the clock of where it was said (no zone in it), and which way it leans."""

    now: datetime
    leaning: Leaning

    @property
    def today(self) -> date:
        return self.now.date()


@dataclass(frozen=True, slots=True)
class Stretch:
    """[`start`, `end`) on the same clock as the moment."""

    start: datetime
    end: datetime
    precision: Precision


MORNING, AFTERNOON, EVENING, NIGHT = "morning", "afternoon", "evening", "night"
PARTS = {MORNING: (5, 12), AFTERNOON: (12, 18), EVENING: (17, 24), NIGHT: (18, 30)}
"""Hours of a part of a day; a night goes on into the next day. Wide: people's evenings begin when theirs do."""
SPRING, SUMMER, AUTUMN, WINTER = 3, 6, 9, 12
"""Seasons by their first month, as meteorologists count north of the equator; a winter belongs to the year it begins in."""


def day(of: date, days: int = 1) -> Stretch:
    start = datetime.combine(of, time())
    return Stretch(start, start + timedelta(days=days), Precision.DAY)


def week(of: date, shift: int = 0) -> Stretch:
    """Monday to Sunday (ISO 8601)."""
    monday = of - timedelta(days=of.weekday()) + timedelta(weeks=shift)
    return Stretch(*_ends(monday, monday + timedelta(days=7)), Precision.WEEK)


def weekend(of: date, shift: int = 0) -> Stretch:
    saturday = of - timedelta(days=of.weekday()) + timedelta(weeks=shift, days=5)
    return Stretch(*_ends(saturday, saturday + timedelta(days=2)), Precision.DAY)


def months(year: int, month: int, count: int = 1, precision: Precision = Precision.MONTH) -> Stretch:
    """`count` months from `month` on, which may lie outside 1–12: then another year is meant."""
    return Stretch(*_ends(_month(year, month), _month(year, month + count)), precision)


def years(year: int, count: int = 1) -> Stretch:
    return months(year, 1, 12 * count, Precision.YEAR)


def season(year: int, first_month: int) -> Stretch:
    return months(year, first_month, 3, Precision.SEASON)


def yearly(moment: Moment, which: Which, of_year: Callable[[int], Stretch]) -> Stretch:
    """The one of what comes every year (a month, a season, a feast) that is meant: last May, next Christmas, in the summer."""
    near = [of_year(moment.now.year + shift) for shift in (-2, -1, 0, 1, 2)]
    match which:
        case Which.THIS:
            return near[2]
        case Which.LAST:
            return _latest(s for s in near if s.end <= moment.now)
        case Which.NEXT:
            return _earliest(s for s in near if s.start > moment.now)
        case Which.NONE if moment.leaning is Leaning.PAST:
            return _latest(s for s in near if s.start <= moment.now)
    return _earliest(s for s in near if s.end > moment.now)


def weekday(moment: Moment, number: int, which: Which) -> Stretch:
    """`number`: 0 is Monday. "Last" is the latest before today, "next" that of the next calendar week; without a word the
    latest before today or the first after it, as the moment leans; "this" may be today."""
    today, ahead = moment.today, (number - moment.today.weekday()) % 7
    back = (moment.today.weekday() - number) % 7
    match which:
        case Which.LAST:
            return day(today - timedelta(days=back or 7))
        case Which.NEXT:
            return day(today - timedelta(days=today.weekday()) + timedelta(days=7 + number))
        case Which.THIS:
            return day(today - timedelta(days=back) if moment.leaning is Leaning.PAST else today + timedelta(days=ahead))
    return day(today - timedelta(days=back or 7) if moment.leaning is Leaning.PAST else today + timedelta(days=ahead or 7))


def day_of_month(moment: Moment, number: int) -> Stretch | None:
    """The 15th: the latest up to today or the first from today on, as the moment leans; None for the 32nd."""
    step = -1 if moment.leaning is Leaning.PAST else 1
    for shift in range(0, 4 * step, step):
        first = _month(moment.now.year, moment.now.month + shift)
        found = date_or_none(first.year, first.month, number)
        if found is not None and (found - moment.today).days * step >= 0:
            return day(found)
    return None


def shifted(moment: Moment, count: int, unit: Unit) -> Stretch:
    """Three weeks ago (-3) or in two days (2): the whole week, month or year that it falls in, as roughly as it was said."""
    match unit:
        case Unit.MINUTE:
            return _clock(moment.now + timedelta(minutes=count), Precision.MINUTE)
        case Unit.HOUR:
            return _clock(moment.now + timedelta(hours=count), Precision.HOUR)
        case Unit.DAY:
            return day(moment.today + timedelta(days=count))
        case Unit.WEEK:
            return week(moment.today, count)
        case Unit.MONTH:
            return months(moment.now.year, moment.now.month + count)
    return years(moment.now.year + count)


def some_ago(moment: Moment, unit: Unit) -> Stretch | None:
    """A few days ago: two to five of them, told as roughly as the next longer unit."""
    rougher = {Unit.DAY: Precision.WEEK, Unit.WEEK: Precision.MONTH, Unit.MONTH: Precision.SEASON, Unit.YEAR: Precision.YEAR}
    if unit not in rougher:
        return None
    first, last = shifted(moment, -5, unit), shifted(moment, -2, unit)
    return Stretch(first.start, last.end, rougher[unit])


def rolling(moment: Moment, count: int, unit: Unit) -> Stretch:
    """The last three weeks (-3), the next two days (2): from now back, or on."""
    other = _moved(moment.now, count, unit)
    return Stretch(min(moment.now, other), max(moment.now, other), Precision(unit.value))


def part_of(stretch: Stretch, part: str) -> Stretch:
    first, last = PARTS[part]
    start = datetime.combine(stretch.start.date(), time())
    return Stretch(start + timedelta(hours=first), start + timedelta(hours=last), Precision.HOUR)


def at(stretch: Stretch, hour: int, minute: int) -> Stretch:
    start = datetime.combine(stretch.start.date(), time(hour % 24, minute)) + timedelta(days=hour // 24)
    return Stretch(start, start + timedelta(minutes=1), Precision.MINUTE)


def nearest_clock(moment: Moment, hour: int, minute: int) -> Stretch:
    """At 7, without a day: the latest such time up to now, or the next from now on, as the moment leans."""
    found = at(day(moment.today), hour, minute)
    step = -1 if moment.leaning is Leaning.PAST else 1
    wrong = found.start > moment.now if step < 0 else found.start < moment.now
    return at(day(moment.today + timedelta(days=step)), hour, minute) if wrong else found


def date_or_none(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except ValueError:
        return None


def easter(year: int) -> date:
    """Gauss's computus in the form of Butcher (Nature, 1876)."""
    a, b, c = year % 19, year // 100, year % 100
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    i = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * i) // 451
    month, number = divmod(h + i - 7 * m + 114, 31)
    return date(year, month, number + 1)


def nth_weekday(year: int, month: int, number: int, nth: int) -> date:
    """The fourth (`nth`) Thursday (3) of November."""
    first = date(year, month, 1)
    return first + timedelta(days=(number - first.weekday()) % 7 + 7 * (nth - 1))


def _clock(start: datetime, precision: Precision) -> Stretch:
    length = timedelta(minutes=1) if precision is Precision.MINUTE else timedelta(hours=1)
    whole = start.replace(second=0, microsecond=0)
    return Stretch(whole if precision is Precision.MINUTE else whole.replace(minute=0), whole + length, precision)


def _moved(now: datetime, count: int, unit: Unit) -> datetime:
    match unit:
        case Unit.MONTH | Unit.YEAR:
            first = _month(now.year, now.month + count * (12 if unit is Unit.YEAR else 1))
            return datetime.combine(first, now.time()) + timedelta(days=now.day - 1)
    return now + timedelta(**{f"{unit.value}s": count})


def _month(year: int, month: int) -> date:
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def _ends(first: date, behind: date) -> tuple[datetime, datetime]:
    return datetime.combine(first, time()), datetime.combine(behind, time())


def _latest(stretches: Iterable[Stretch]) -> Stretch:
    return max(stretches, key=lambda s: s.start)


def _earliest(stretches: Iterable[Stretch]) -> Stretch:
    return min(stretches, key=lambda s: s.start)
