"""How does Spanish say when? Days, weeks, months, years and dates; clock times stay unread."""

from __future__ import annotations

from datetime import timedelta

from service.timewords.calendar import AUTUMN, SPRING, SUMMER, WINTER, Unit, Which, day, years
from service.timewords.grammar import Bounds, Grammar, one_of, pattern, rule
from service.timewords.words import Words, numbered

_MONTHS = "enero,febrero,marzo,abril,mayo,junio,julio,agosto,septiembre setiembre,octubre,noviembre,diciembre"
_UNITS = {"día": Unit.DAY, "dia": Unit.DAY, "semana": Unit.WEEK, "año": Unit.YEAR, "hora": Unit.HOUR, "minuto": Unit.MINUTE}
WORDS = Words(
    days={"hoy": 0, "ayer": -1, "anteayer": -2, "antes de ayer": -2, "pasado mañana": 2},
    which={
        "el pasado": Which.LAST, "la pasada": Which.LAST, "este": Which.THIS, "esta": Which.THIS, "el próximo": Which.NEXT,
        "la próxima": Which.NEXT, "el": Which.NONE,
    },
    weekdays=numbered("lunes,martes,miércoles miercoles,jueves,viernes,sábado sabado,domingo", 0),
    months=numbered(_MONTHS, 1),
    seasons={"primavera": SPRING, "verano": SUMMER, "otoño": AUTUMN, "invierno": WINTER},
    units={word + ending: unit for word, unit in _UNITS.items() for ending in ("", "s")}
    | {"mes": Unit.MONTH, "meses": Unit.MONTH},
    numbers=numbered("un una,dos,tres,cuatro,cinco,seis,siete,ocho,nueve,diez,once,doce", 1) | {"un par de": 2},
    weekend=r"fin\s+de\s+semana",
)  # fmt: skip
_N, _U, _M = rf"(?P<count>\d{{1,3}}|{one_of(WORDS.numbers)})", rf"(?P<unit>{one_of(WORDS.units)})", one_of(WORDS.months)
_YEAR = r"(?P<year>(?:19|20)\d\d)"


GRAMMAR = Grammar(
    days=(
        *WORDS.rules(),
        rule(r"(?<!la\ )(?<!esta\ )(?<!pasado\ )\bmañana\b", lambda _, m: day(m.today + timedelta(days=1))),
        *WORDS.behind(r"(?:el|la)\s+", {r"pasad[oa]": Which.LAST, r"(?:que\s+viene|próxim[oa])": Which.NEXT}),
        rule(rf"\bhace\s+{_N}\s+{_U}\b", WORDS.ago),
        rule(rf"\b(?:en|dentro\s+de)\s+(?P<said>{_N}\s+{_U})\b", WORDS.ahead),
        rule(rf"\b(?:los|las)\s+últim[oa]s\s+{_N}\s+{_U}\b", WORDS.lately),
        rule(rf"\b(?:el\s+)?(?P<day>\d{{1,2}})\s+de\s+(?P<month>{_M})(?:\s+(?:de|del)\s+{_YEAR})?\b", WORDS.dated),
        rule(rf"\b(?:en|desde|hasta)\s+(?P<said>(?P<month>{_M})(?:\s+(?:de|del)\s+{_YEAR})?)\b", WORDS.month_of),
        rule(rf"\b(?:en|desde|hasta|de)\s+(?P<said>{_YEAR})\b", lambda g, _: years(int(g["year"] or ""))),
    ),
    parts=pattern(r"\b(?:por|de)\s+la\s+(?:(?P<morning>mañana)|(?P<afternoon>tarde)|(?P<night>noche))\b"),
    clocks=(),
    joins=pattern(r"[\s,]*"),
    bounds=Bounds(
        since=pattern(r"\bdesde\s+(?:el\s+|la\s+)?$"),
        after=pattern(r"\bdespués\s+de[l]?\s+(?:la\s+)?$"),
        before=pattern(r"\bantes\s+de[l]?\s+(?:la\s+)?$"),
        until=pattern(r"\bhasta\s+(?:el\s+|la\s+)?$"),
        between=pattern(r"\b(?:entre|desde|de)\s+(?:el\s+|la\s+)?$"),
        to=pattern(r"\s*(?:y|a|hasta)\s+(?:el\s+|la\s+)?"),
    ),
)
