"""How does English say when?"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from service.timewords.calendar import (
    AUTUMN,
    SPRING,
    SUMMER,
    WINTER,
    Leaning,
    Moment,
    Stretch,
    Unit,
    Which,
    date_or_none,
    day,
    day_of_month,
    easter,
    months,
    nth_weekday,
    rolling,
    season,
    shifted,
    some_ago,
    week,
    weekday,
    weekend,
    yearly,
    years,
)
from service.timewords.grammar import Bounds, Clock, Grammar, Groups, clock_rule, looked_up, one_of, pattern, rule

_MONTHS = "january jan,february feb,march,april apr,may,june,july,august aug,september sept,october oct,november nov,december"


def _numbered(names: str, start: int) -> dict[str, int]:
    """Groups of words between commas, counted from `start`."""
    return {name: number for number, group in enumerate(names.split(","), start) for name in group.split()}


WEEKDAYS = _numbered("monday,tuesday tues,wednesday,thursday thurs,friday,saturday,sunday", 0)
MONTHS = _numbered(_MONTHS, 1)
AMBIGUOUS = {"may", "march", "april", "june", "august", "jan"}
"""Other words, or somebody's name: they count after few prepositions only."""
PLAIN_MONTHS = {name: number for name, number in MONTHS.items() if name not in AMBIGUOUS}
SEASONS = {"spring": SPRING, "summer": SUMMER, "autumn": AUTUMN, "fall": AUTUMN, "winter": WINTER}
NUMBERS = _numbered("a an one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve", 1)
NUMBERS |= {"a couple of": 2, "a couple": 2, "fifteen": 15, "twenty": 20, "thirty": 30}
_TEENS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth"
_TEENS += " sixteenth seventeenth eighteenth nineteenth twentieth"
ORDINALS = {word: number for number, word in enumerate(_TEENS.split(), start=1)}
ORDINALS |= {f"twenty{join}{word}": 20 + n for word, n in list(ORDINALS.items())[:9] for join in (" ", "-")}
ORDINALS |= {"thirtieth": 30, "thirty first": 31, "thirty-first": 31}
UNITS = {form: unit for unit in Unit for form in (unit.value, unit.value + "s")} | {"min": Unit.MINUTE, "mins": Unit.MINUTE}

FEASTS: dict[str, Callable[[int], Stretch]] = {
    "christmas eve": lambda year: day(date(year, 12, 24)),
    "christmas day": lambda year: day(date(year, 12, 25)),
    "christmas": lambda year: day(date(year, 12, 24), 3),
    "new year's eve": lambda year: day(date(year, 12, 31)),
    "new years eve": lambda year: day(date(year, 12, 31)),
    "new year's day": lambda year: day(date(year, 1, 1)),
    "new year's": lambda year: day(date(year, 1, 1)),
    "valentine's day": lambda year: day(date(year, 2, 14)),
    "halloween": lambda year: day(date(year, 10, 31)),
    "thanksgiving": lambda year: day(nth_weekday(year, 11, 3, 4)),
    "good friday": lambda year: day(easter(year) - timedelta(days=2)),
    "easter monday": lambda year: day(easter(year) + timedelta(days=1)),
    "easter sunday": lambda year: day(easter(year)),
    "easter": lambda year: day(easter(year) - timedelta(days=2), 4),
}

_W, _M, _F = one_of(WEEKDAYS), one_of(MONTHS), one_of(FEASTS).replace("'", "['’]")
_N = rf"(?P<count>\d{{1,3}}|{one_of(NUMBERS)})"
_DAY = rf"(?P<day>\d{{1,2}}(?:st|nd|rd|th)?|{one_of(ORDINALS)})"
_NTH = rf"(?P<day>\d{{1,2}}(?:st|nd|rd|th)|{one_of(ORDINALS)})"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_PREP = r"\b(?:in|since|until|till|by|during|through|of|before|after|around|early|late|mid|from|to|between|and)"
_NOT_EACH = r"(?<!every\ )(?<!each\ )(?<!any\ )(?<!most\ )(?<!other\ )(?<!some\ )"
_GOES_ON = r"and|or|but|at|to|for|with|because|so|if|when|then|in\ the|we|i|they|he|she|you|is|are|works|would|this|on"
_ENDS = rf"(?=\s*(?:[.,;:!?)…-]|$|(?:{_GOES_ON}|yesterday|tomorrow|today|tonight|sharp|{_W})\b))"
"""What may follow a number that is a day or an hour: else it counts something."""


def _which(said: Groups) -> Which:
    """last, this or next, also as past, coming and following would have it."""
    word = said.get("which") or ""
    return {
        "last": Which.LAST, "past": Which.LAST, "previous": Which.LAST, "this": Which.THIS, "this past": Which.LAST,
        "this coming": Which.NEXT, "next": Which.NEXT, "coming": Which.NEXT,
    }.get(" ".join(word.split()), Which.NONE)  # fmt: skip


_WHICH = r"(?P<which>this\s+past|this\s+coming|last|past|previous|this|next|coming)"
_SHIFT = {Which.LAST: -1, Which.THIS: 0, Which.NEXT: 1, Which.NONE: 0}


def _count(said: Groups) -> int:
    word = said["count"] or ""
    return int(word) if word.isdigit() else looked_up(NUMBERS, word) or 1


def _year(said: Groups) -> int:
    return int(said["year"] or "")


def _unit(said: Groups) -> Unit:
    return UNITS[said["unit"] or ""]


def _month_of(said: Groups) -> int:
    return looked_up(MONTHS, said["month"]) or 1


def _day_number(said: Groups) -> int:
    word = said["day"] or ""
    return looked_up(ORDINALS, word) or int("".join(c for c in word if c.isdigit()))


def _date(said: Groups, moment: Moment) -> Stretch | None:
    """5 May, with or without its year: without one the nearest such day, as the moment leans."""
    number, month = _day_number(said), _month_of(said)
    if said.get("year"):
        found = date_or_none(_year(said), month, number)
        return day(found) if found else None
    if date_or_none(2024, month, number) is None or (month, number) == (2, 29):
        return None
    return yearly(moment, Which.NONE, lambda year: day(date(year, month, number)))


def _numeric(said: Groups, _: Moment) -> Stretch | None:
    """2023-05-12; 12/5/2023 only where one of the two can be no month or both are the same."""
    first, second = int(said["first"] or ""), int(said["second"] or "")
    year = _year(said)
    if said.get("iso"):
        found = date_or_none(year, first, second)
    elif first > 12 or first == second:
        found = date_or_none(year, second, first)
    elif second > 12:
        found = date_or_none(year, first, second)
    else:
        found = None
    return day(found) if found else None


def _month(said: Groups, moment: Moment) -> Stretch:
    month = _month_of(said)
    if said.get("year"):
        return months(_year(said), month)
    return yearly(moment, _which(said), lambda year: months(year, month))


def _season(said: Groups, moment: Moment) -> Stretch:
    first = SEASONS[said["season"] or ""]
    if said.get("year"):
        return season(_year(said), first)
    return yearly(moment, _which(said), lambda year: season(year, first))


def _feast(said: Groups, moment: Moment) -> Stretch:
    feast = FEASTS[" ".join((said["feast"] or "").replace("’", "'").split())]
    return feast(_year(said)) if said.get("year") else yearly(moment, _which(said), feast)


def _period(said: Groups, moment: Moment) -> Stretch:
    which, today = _which(said), moment.today
    shift = _SHIFT[which]
    match said["period"]:
        case "week":
            return week(today, shift)
        case "weekend":
            return _weekend(which, moment)
        case "month":
            return months(today.year, today.month + shift)
    return years(today.year + shift)


def _weekday(said: Groups, moment: Moment) -> Stretch:
    return weekday(moment, WEEKDAYS[said["weekday"] or ""], _which(said))


def _weekend(which: Which, moment: Moment) -> Stretch:
    """On a Saturday or Sunday "last weekend" is the one before, and the bare one that which goes on."""
    on_one = moment.today.weekday() >= 5
    if which is Which.NONE and moment.leaning is Leaning.PAST and not on_one:
        return weekend(moment.today, -1)
    return weekend(moment.today, _SHIFT[which])


DAYS = (
    rule(r"\b(?:later\s+|earlier\s+)?today\b", lambda _, m: day(m.today)),
    rule(r"\bto(?=night\b)|\bthis(?=\s+(?:morning|afternoon|evening)\b)", lambda _, m: day(m.today)),
    rule(r"\b(?:yesterday|last(?=\s+night\b))", lambda _, m: day(m.today - timedelta(days=1))),
    rule(r"\btomorrow\b", lambda _, m: day(m.today + timedelta(days=1))),
    rule(r"\bthe\s+day\s+before\s+yesterday\b", lambda _, m: day(m.today - timedelta(days=2))),
    rule(r"\bthe\s+day\s+after\s+tomorrow\b", lambda _, m: day(m.today + timedelta(days=2))),
    rule(rf"{_NOT_EACH}\b(?:{_WHICH}\s+)?(?P<weekday>{_W})\b", _weekday),
    rule(rf"\b(?:(?:{_W}),?\s+)?(?:the\s+)?{_DAY}\s+(?:of\s+)?(?P<month>{_M})\b\.?(?:,?\s+{_YEAR}\b)?", _date),
    rule(rf"\b(?:(?:{_W}),?\s+)?(?P<month>{_M})\b\.?\s+(?:the\s+)?{_DAY}\b(?!:|\s*[ap]\.?m\b)(?:,?\s+{_YEAR}\b)?", _date),
    rule(r"\b(?P<iso>)(?P<year>(?:19|20)\d\d)-(?P<first>\d\d)-(?P<second>\d\d)\b", lambda s, m: _numeric({**s, "iso": "1"}, m)),
    rule(r"\b(?P<first>\d{1,2})[/.](?P<second>\d{1,2})[/.](?P<year>(?:19|20)\d\d)\b", _numeric),
    rule(
        rf"\b(?:on|by|until|till|since|from|before|after)\s+(?P<said>(?:(?:{_W}),?\s+)?the\s+{_NTH}){_ENDS}",
        lambda s, m: day_of_month(m, _day_number(s)),
    ),
    rule(rf"\b{_WHICH}\s+(?P<period>week|weekend|month|year)\b", _period),
    rule(r"\b(?:at|on|over|for|during|until|till|by)\s+(?P<said>the\s+(?P<period>weekend))\b", _period),
    rule(
        r"\b(?:the\s+)?(?:end|beginning|start|middle|rest)\s+of\s+the\s+(?P<period>week|month|year)\b(?!\s+(?:of|before|after))",
        _period,
    ),
    rule(r"\bthe\s+week(?P<end>end)?\s+before\s+last\b", lambda s, m: (weekend if s["end"] else week)(m.today, -2)),
    rule(r"\bthe\s+week(?P<end>end)?\s+after\s+next\b", lambda s, m: (weekend if s["end"] else week)(m.today, 2)),
    rule(rf"\b{_N}\s+(?P<unit>{one_of(UNITS)})\s+(?:ago|back)\b", lambda s, m: shifted(m, -_count(s), _unit(s))),
    rule(
        rf"\b(?:in\s+(?P<said>{_N}\s+(?P<unit>{one_of(UNITS)})(?:'|’)?(?:\s+time)?))(?!\s+(?:ago|back|later|of)\b)",
        lambda s, m: None if m.leaning is Leaning.PAST else shifted(m, _count(s), _unit(s)),
    ),
    rule(rf"\b(?:a\s+few|several)\s+(?P<unit>{one_of(UNITS)})\s+(?:ago|back)\b", lambda s, m: some_ago(m, _unit(s))),
    rule(rf"\b{_N}\s+(?P<unit>{one_of(UNITS)})\s+from\s+(?:now|today)\b", lambda s, m: shifted(m, _count(s), _unit(s))),
    rule(
        rf"\b(?:the|these)\s+(?:last|past|previous)\s+(?:{_N}|few|several)\s+(?P<unit>{one_of(UNITS)})\b",
        lambda s, m: rolling(m, -_few(s), _unit(s)),
    ),
    rule(
        rf"\b(?:the|these)\s+(?:next|coming|following)\s+(?:{_N}|few|several)\s+(?P<unit>{one_of(UNITS)})\b",
        lambda s, m: rolling(m, _few(s), _unit(s)),
    ),
    rule(r"\bthe\s+(?:last|past)\s+(?P<unit>week|month|year)\b", lambda s, m: rolling(m, -1, _unit(s))),
    rule(rf"\b(?P<month>{_M})\b\.?,?\s+(?:of\s+)?{_YEAR}\b", _month),
    rule(rf"\b{_WHICH}\s+(?P<month>{_M})\b", _month),
    rule(rf"{_PREP}\s+(?P<said>(?P<month>{one_of(PLAIN_MONTHS)}))\b(?!\s+\d)", _month),
    rule(rf"\b(?:in|since|until|till|during|throughout|early|late|mid)\s+(?P<said>(?P<month>{_M}))\b(?!\s+\d)", _month),
    rule(rf"\b(?:from|between)\s+(?P<said>(?P<month>{_M}))(?=\s+(?:to|until|till|and|through)\s+(?:{_M})\b)", _month),
    rule(rf"\b(?:from|between)\s+(?:{_M})\s+(?:to|until|till|and|through)\s+(?P<said>(?P<month>{_M}))\b(?!\s+\d)", _month),
    rule(rf"\b(?P<season>spring|summer|autumn|fall|winter)\s+(?:of\s+|in\s+)?{_YEAR}\b", _season),
    rule(rf"\b{_WHICH}\s+(?P<season>spring|summer|autumn|fall|winter)\b", _season),
    rule(
        r"\b(?:in|during|since|until|by|over)\s+(?P<said>the\s+(?P<season>spring|summer|autumn|fall|winter))\b(?!\s+(?:of|\d))",
        _season,
    ),
    rule(rf"\b(?P<feast>{_F})(?:,?\s+(?:of\s+|in\s+)?{_YEAR})?\b", _feast),
    rule(rf"\b{_WHICH}\s+(?P<feast>{_F})\b", _feast),
    rule(rf"{_PREP}\s+(?P<said>{_YEAR})\b(?!\s*(?:%|people|euros|dollars|times))", lambda s, _: years(_year(s))),
    rule(
        r"\b(?:in|during|since|from)\s+(?P<said>the\s+(?:(?P<century>19|20)?(?P<decade>\d)0)'?s)\b",
        lambda s, m: years(int(f"{s['century'] or ('19' if int(s['decade'] or '') > 2 else '20')}{s['decade']}0"), 10),
    ),
)  # fmt: skip


def _few(said: Groups) -> int:
    """A few and several: three."""
    return _count(said) if said["count"] else 3


_H = rf"(?P<hour>\d{{1,2}}|{one_of({w: n for w, n in NUMBERS.items() if w not in ('a', 'an', 'a couple of', 'a couple')})})"
_HALF = r"(?P<half>[ap])\.?\s?m\b\.?"


def _clock(said: Groups) -> Clock | None:
    word = said.get("hour") or ""
    hour = int(word) if word.isdigit() else looked_up(NUMBERS, word) or 0
    minute = int(said.get("minute") or 0)
    if hour > 24 or minute > 59:
        return None
    if half := said.get("half"):
        return Clock(hour % 12 + (12 if half == "p" else 0), minute, True) if 1 <= hour <= 12 else None
    return Clock(hour, minute, hour > 12 or hour == 0 or word.startswith("0"))


def _past(said: Groups) -> Clock | None:
    """Half past six, quarter to five."""
    told = _clock({"hour": said["hour"]})
    if told is None or not 1 <= told.hour <= 12:
        return None
    minutes = {"half": 30, "quarter": 15, "ten": 10, "five": 5, "twenty": 20}[(said["minutes"] or "").split()[-1]]
    if said["side"] == "past":
        return Clock(told.hour, minutes, False)
    return Clock((told.hour - 1) or 12, 60 - minutes, False)


CLOCKS = (
    clock_rule(rf"\b{_H}(?::(?P<minute>[0-5]\d))?\s?{_HALF}", _clock),
    clock_rule(r"\b(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)\b(?!\s?[ap]\.?m)(?!:)", _clock),
    clock_rule(rf"\b{_H}\s+o['’]?clock\b", _clock),
    clock_rule(r"\b(?:at|by|until|till|around|before|after)\s+(?P<said>noon|midday)\b", lambda _: Clock(12, 0, True)),
    clock_rule(r"\b(?:at|by|until|till|around|before|after)\s+(?P<said>midnight)\b", lambda _: Clock(24, 0, True)),
    clock_rule(rf"\b(?P<minutes>half|(?:a\s+)?quarter|ten|five|twenty)\s+(?P<side>past|to)\s+{_H}\b", _past),
    clock_rule(
        rf"\b(?:at|until|till|around|by)\s+(?P<said>{_H})\b(?!\s*[:%°]){_ENDS}",
        _clock,
    ),
)
GRAMMAR = Grammar(
    days=DAYS,
    parts=pattern(
        r"(?:\bin\s+the\s+|\b(?:early|late)\s+|\b|(?<=\bto)(?=night))"
        r"(?:(?P<morning>morning)|(?P<afternoon>afternoon)|(?P<evening>evening)|(?P<night>night))\b"
    ),
    clocks=CLOCKS,
    joins=pattern(r"[\s,]*(?:(?:at|around|about|by|on|from|in\s+the)\s+)?"),
    bounds=Bounds(
        since=pattern(r"\b(?:since|starting|from)\s+(?:the\s+)?$"),
        after=pattern(r"\bafter\s+(?:the\s+)?$"),
        before=pattern(r"\b(?:before|prior\s+to)\s+(?:the\s+)?$"),
        until=pattern(r"\b(?:until|till|up\s+to|by)\s+(?:the\s+)?$"),
        between=pattern(r"\b(?:between|from)\s+(?:the\s+)?$"),
        to=pattern(r"\s*(?:and|to|until|till|through|-|–)\s+(?:the\s+)?"),
    ),
)
