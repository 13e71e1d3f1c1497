"""How does a language without much inflection of its times say when: by a table of its words?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from service.timewords.calendar import (
    Leaning,
    Moment,
    Stretch,
    Unit,
    Which,
    date_or_none,
    day,
    months,
    rolling,
    season,
    shifted,
    week,
    weekday,
    weekend,
    yearly,
    years,
)
from service.timewords.grammar import Groups, Resolve, Rule, looked_up, one_of, rule


@dataclass(frozen=True, slots=True)
class Words:
    """`bound`: what a word begins and ends with in patterns; nothing where a script has no blanks."""

    days: Mapping[str, int]
    """Today is 0, tomorrow 1."""
    which: Mapping[str, Which]
    weekdays: Mapping[str, int]
    months: Mapping[str, int]
    seasons: Mapping[str, int]
    units: Mapping[str, Unit]
    numbers: Mapping[str, int]
    weekend: str = ""
    """A pattern."""
    bound: str = r"\b"
    blank: str = r"\s+"
    extra: tuple[Rule, ...] = field(default=())

    def rules(self) -> tuple[Rule, ...]:
        b, s, which = self.bound, self.blank, one_of(self.which)
        weekdays, month_names, units = one_of(self.weekdays), one_of(self.months), one_of(self.units)
        found = [
            rule(
                rf"{b}(?P<day>{one_of(self.days)}){b}",
                lambda g, m: day(m.today + timedelta(days=looked_up(self.days, g["day"]) or 0)),
            ),
            rule(rf"{b}(?:(?P<which>{which}){s})?(?P<weekday>{weekdays}){b}", self._weekday),
            rule(rf"{b}(?P<which>{which}){s}(?P<unit>{units}){b}", self._period),
            rule(rf"{b}(?P<which>{which}){s}(?P<season>{one_of(self.seasons)}){b}", self._season),
            rule(rf"{b}(?P<which>{which}){s}(?P<month>{month_names}){b}", self._month),
        ]
        if self.weekend:
            found.append(rule(rf"{b}(?:(?P<which>{which}){s})?(?:{self.weekend}){b}", self._weekend))
        return (*found, *self.extra)

    def behind(self, article: str, words: Mapping[str, Which]) -> tuple[Rule, ...]:
        """For "el lunes pasado": which one is said behind it. `words`: patterns."""
        b, found = self.bound, []
        for behind, which in words.items():
            word = next(word for word, means in self.which.items() if means is which)
            for name, nouns, resolve in (
                ("weekday", self.weekdays, self._weekday),
                ("unit", self.units, self._period),
                ("season", self.seasons, self._season),
                ("month", self.months, self._month),
            ):
                found.append(
                    rule(rf"{b}(?:{article})?(?P<{name}>{one_of(nouns)}){self.blank}{behind}{b}", _with(resolve, word))
                )
        return tuple(found)

    def which_of(self, said: Groups) -> Which:
        return looked_up(self.which, said.get("which")) or Which.NONE

    def count(self, said: Groups) -> int:
        word = said["count"] or ""
        return int(word) if word.isdigit() else looked_up(self.numbers, word) or 1

    def unit(self, said: Groups) -> Unit:
        return looked_up(self.units, said["unit"]) or Unit.DAY

    def ago(self, said: Groups, moment: Moment) -> Stretch:
        return shifted(moment, -self.count(said), self.unit(said))

    def ahead(self, said: Groups, moment: Moment) -> Stretch | None:
        """None of the past: "in zwei Wochen" took two weeks then."""
        return None if moment.leaning is Leaning.PAST else shifted(moment, self.count(said), self.unit(said))

    def lately(self, said: Groups, moment: Moment) -> Stretch:
        return rolling(moment, -self.count(said), self.unit(said))

    def dated(self, said: Groups, moment: Moment) -> Stretch | None:
        """A day of a month, by its name or its number, with or without the year."""
        named = looked_up(self.months, said["month"])
        month, number = named or int(said["month"] or ""), int(said["day"] or "")
        if said.get("year"):
            found = date_or_none(int(said["year"] or ""), month, number)
            return day(found) if found else None
        if date_or_none(2023, month, number) is None:
            return None
        return yearly(moment, Which.NONE, lambda year: day(date_or_none(year, month, number) or moment.today))

    def month_of(self, said: Groups, moment: Moment) -> Stretch | None:
        number = looked_up(self.months, said["month"]) or int(said["month"] or "")
        if not 1 <= number <= 12:
            return None
        if said.get("year"):
            return months(int(said["year"] or ""), number)
        return yearly(moment, self.which_of(said), lambda year: months(year, number))

    def _weekday(self, said: Groups, moment: Moment) -> Stretch:
        return weekday(moment, looked_up(self.weekdays, said["weekday"]) or 0, self.which_of(said))

    def _weekend(self, said: Groups, moment: Moment) -> Stretch:
        which = self.which_of(said)
        back = which is Which.LAST or (which is Which.NONE and moment.leaning is Leaning.PAST and moment.today.weekday() < 5)
        return weekend(moment.today, -1 if back else 1 if which is Which.NEXT else 0)

    def _period(self, said: Groups, moment: Moment) -> Stretch | None:
        shift = {Which.LAST: -1, Which.NEXT: 1}.get(self.which_of(said), 0)
        match self.unit(said):
            case Unit.WEEK:
                return week(moment.today, shift)
            case Unit.MONTH:
                return months(moment.now.year, moment.now.month + shift)
            case Unit.YEAR:
                return years(moment.now.year + shift)
        return None

    def _season(self, said: Groups, moment: Moment) -> Stretch:
        first = looked_up(self.seasons, said["season"]) or 1
        return yearly(moment, self.which_of(said), lambda year: season(year, first))

    def _month(self, said: Groups, moment: Moment) -> Stretch | None:
        return self.month_of(said, moment)


def _with(resolve: Resolve, which: str) -> Resolve:
    return lambda said, moment: resolve({**said, "which": which}, moment)


def numbered(names: str, start: int) -> dict[str, int]:
    """Groups of words between commas, counted from `start`."""
    return {name: number for number, group in enumerate(names.split(","), start) for name in group.split()}
