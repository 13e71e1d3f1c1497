"""How does German say when? Days, weeks, months, years and dates; clock times stay unread."""

from __future__ import annotations

from service.timewords.calendar import AUTUMN, SPRING, SUMMER, WINTER, Unit, Which, years
from service.timewords.grammar import Bounds, Grammar, one_of, pattern, rule
from service.timewords.words import Words, numbered

_ENDINGS = ("e", "er", "en", "es", "em")
_MONTHS = "januar jänner,februar,märz,april,mai,juni,juli,august,september,oktober,november,dezember"
_UNITS = {
    "tag": Unit.DAY,
    "woche": Unit.WEEK,
    "monat": Unit.MONTH,
    "jahr": Unit.YEAR,
    "stunde": Unit.HOUR,
    "minute": Unit.MINUTE,
}
WORDS = Words(
    days={"heute": 0, "gestern": -1, "vorgestern": -2, "morgen": 1, "übermorgen": 2},
    which={
        stem + ending: which
        for stem, which in (("letzt", Which.LAST), ("vorig", Which.LAST), ("vergangen", Which.LAST), ("dies", Which.THIS))
        for ending in _ENDINGS
    }
    | {stem + ending: Which.NEXT for stem in ("nächst", "kommend") for ending in _ENDINGS},
    weekdays=numbered("montag,dienstag,mittwoch,donnerstag,freitag,samstag sonnabend,sonntag", 0),
    months=numbered(_MONTHS, 1),
    seasons={"frühling": SPRING, "frühjahr": SPRING, "sommer": SUMMER, "herbst": AUTUMN, "winter": WINTER},
    units={word + ending: unit for word, unit in _UNITS.items() for ending in ("", "n", "en", "e")},
    numbers=numbered("ein eine einem einer einen,zwei,drei,vier,fünf,sechs,sieben,acht,neun,zehn,elf,zwölf", 1),
    weekend="wochenende",
)
_N, _U, _M = rf"(?P<count>\d{{1,3}}|{one_of(WORDS.numbers)})", rf"(?P<unit>{one_of(WORDS.units)})", one_of(WORDS.months)
_YEAR = r"(?P<year>(?:19|20)\d\d)"
GRAMMAR = Grammar(
    days=(
        *WORDS.rules(),
        rule(rf"\bvor\s+{_N}\s+{_U}\b", WORDS.ago),
        rule(rf"\bin\s+(?P<said>{_N}\s+{_U})\b", WORDS.ahead),
        rule(rf"\b(?:in\s+)?den\s+(?:letzten|vergangenen)\s+{_N}\s+{_U}\b", WORDS.lately),
        rule(rf"\b(?P<day>\d{{1,2}})\.\s*(?P<month>{_M})(?:\s+{_YEAR})?\b", WORDS.dated),
        rule(rf"\b(?P<day>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.\s?{_YEAR}\b", WORDS.dated),
        rule(rf"\b(?:im|seit|bis|ab|ende|anfang|mitte)\s+(?P<said>(?P<month>{_M})(?:\s+{_YEAR})?)\b", WORDS.month_of),
        rule(rf"\b(?:im\s+jahre?|seit|bis|in|von|nach|vor)\s+(?P<said>{_YEAR})\b", lambda g, _: years(int(g["year"] or ""))),
    ),
    parts=pattern(r"\b(?:(?P<morning>früh|vormittag)|(?P<afternoon>nachmittag)|(?P<evening>abend)|(?P<night>nacht))\b"),
    clocks=(),
    joins=pattern(r"[\s,]*"),
    bounds=Bounds(
        since=pattern(r"\b(?:seit|ab)\s+(?:de[mr]\s+)?$"),
        after=pattern(r"\bnach\s+(?:de[mr]\s+)?$"),
        before=pattern(r"\bvor\s+(?:de[mr]\s+)?$"),
        until=pattern(r"\bbis\s+(?:zu[mr]\s+)?$"),
        between=pattern(r"\b(?:zwischen|von|vom)\s+(?:de[mr]\s+)?$"),
        to=pattern(r"\s*(?:und|bis|bis\s+zum|-|–)\s+(?:de[mr]\s+)?"),
    ),
)
