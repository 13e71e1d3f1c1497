"""What of what others said is of somebody who is erased? Their names, facts that say something of them, and facts that owe
words to what they said; and what a string that holds their ids or names is to be instead. Pure.

Others' messages keep their text, also where it calls the name: who reads it was there. A name that somebody else has, too, is
theirs as well: it goes only from where both cannot be meant."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from service.types.erasure import FactSeen, Held, Needles
from service.types.names import normal

ERASED = "erased"
"""Stands where a string must stand and what it said is gone."""
REDACTED = "[erased]"
"""Stands in a text for a name."""
SHORTEST = 2
"""Letters of a name: one letter is in everything."""
_WORD = re.compile(r"[^\W_]+")
_ADDRESSEE = "{addressee}"


def names_of(given: Iterable[str | None], others: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of somebody's names, whole and (of several words) the first: those that are theirs alone, and those that one of
    `others`, names of who stays, has as well. Both case-folded, sorted."""
    whole = {folded for name in given if name and len(folded := normal(name)) >= SHORTEST}
    first = {name.split()[0] for name in whole if " " in name}
    taken = {part for other in others for part in (normal(other), *normal(other).split())}
    names = whole | {name for name in first if len(name) > SHORTEST}
    return tuple(sorted(names - taken)), tuple(sorted(names & taken))


def holds(text: str, names: Collection[str]) -> bool:
    """Whether one of `names` (case-folded) stands in `text`, word for word; in lower case only where all of it is: people are
    called Will and May, and what may be is nobody."""
    return bool(names) and next(_called(" ".join(unicodedata.normalize("NFKC", text).split()), names), None) is not None


def _called(text: str, names: Collection[str]) -> Iterator[re.Match[str]]:
    cased = text != text.lower()
    return (match for match in _names(names).finditer(text) if not cased or not match[0][0].islower())


def without_names(text: str, names: Collection[str]) -> str:
    """With a mark where one of `names` stood."""
    if not names:
        return text
    mended = text
    for match in reversed(list(_called(text, names))):
        mended = mended[: match.start()] + REDACTED + mended[match.end() :]
    return REDACTED if holds(mended, names) else mended  # written in other letters than the name is


def facts_that_go(seen: Iterable[FactSeen], names: Collection[str], shared: Collection[str]) -> tuple[str, ...]:
    """Ids of those without support by what stays, and of those about who is erased."""
    return tuple(sorted({fact.id for fact in seen if _goes(fact, names, shared)}))


def _goes(fact: FactSeen, names: Collection[str], shared: Collection[str]) -> bool:
    said = f"{fact.statement} {fact.value or ''}"
    about = holds(said, names) or (fact.where_they_were and holds(said, shared))
    told = fact.told_them and _ADDRESSEE in fact.statement
    return fact.source_erased or about or told or owes(fact)


def owes(fact: FactSeen) -> bool:
    """Whether a word of the statement was said in what goes and nowhere in what stays."""
    gone, kept = (_words(" ".join(texts)) for texts in (fact.erased_texts, fact.kept_texts))
    return bool(_words(fact.statement) & (gone - kept))


# ---- strings


class Fate(Enum):
    """What becomes of the node that a string stands on."""

    STAYS = "stays"
    GOES = "goes"


GOES_WITH_A_NAME = frozenset({"Entity", "Fact", "Image", "NameProposal", "Query", "Job"})
"""Labels whose nodes are about whom they name, or of no use without."""
GOES_WITH_AN_ID = frozenset({"Query", "Job", "Webhook", "Grant"})
KEEPS = frozenset({"AuditEvent", "Consent", "Erasure", "Receipt", "OptOut"})
"""Labels of what is kept as proof, ids and all."""
OTHERS_WORDS = frozenset({("Message", "text"), ("Message", "captions"), ("Delivery", "body"), ("Delivery", "carried")})
"""Where a name may stand: it is others who said it. What meetings' backends sent goes by itself, some days after their end."""
TOLD = frozenset({("Session", "erased_facts"), ("Event", "people"), ("Event", "session_id"), ("Session", "checkpoint")})
"""Where an id stands to say that it is erased; of events those of before name it no more, and all go after some days. And how
far an open session is written: it goes when that is complete, and there is no receipt before."""
OTHERS_NAMES = frozenset({("Person", "display_name"), ("Person", "aliases")})
NOBODYS = frozenset({"speaker_id", "runner_up_id", "affect_of", "of", "person_id", "asked_by"})
"""Properties that are none where nobody is named."""


def is_left(held: Held, needles: Needles) -> bool:
    """Whether it must not stand there."""
    return _has_id(held, needles) or _has_name(held, needles)


def fate(held: Held, needles: Needles) -> Fate:
    goes = (held.label in GOES_WITH_AN_ID and _has_id(held, needles)) or (
        held.label in GOES_WITH_A_NAME and _has_name(held, needles)
    )
    return Fate.GOES if goes else Fate.STAYS


def redacted(held: Held, needles: Needles) -> Any:
    """What is to stand there instead; None: nothing."""
    value, names = held.value, needles.names if _has_name(held, needles) else ()
    if held.property == "marks" and isinstance(value, str):
        marks = [(mark, Held(held.node, held.label, "mark", json.dumps(mark))) for mark in json.loads(value)]
        kept = [mark for mark, told in marks if not is_left(told, needles)]
        return json.dumps(kept, ensure_ascii=False) if kept else None
    if isinstance(value, list):
        return [item for item in value if not (_any_id(item, needles) or holds(item, names))] or ([] if value else None)
    if _any_id(value, needles) and value in needles.forms:
        return None if held.property in NOBODYS else ERASED
    if held.label == "LocalSpeaker" and names:
        return ERASED
    for form in needles.forms:
        value = _whole(form).sub(ERASED, value)
    return without_names(value, names)


def _has_id(held: Held, needles: Needles) -> bool:
    if (
        held.label in KEEPS
        or (held.label, held.property) in TOLD | OTHERS_WORDS
        or (held.property == "id" and held.value in needles.ids)
    ):
        return False
    values = held.value if isinstance(held.value, list) else [held.value]
    return any(_any_id(value, needles) for value in values)


def _has_name(held: Held, needles: Needles) -> bool:
    if held.label == "Webhook" or held.property == "id" or (held.label in KEEPS and held.property != "why"):
        return False
    if (held.label, held.property) in OTHERS_WORDS | OTHERS_NAMES:
        return False
    values = held.value if isinstance(held.value, list) else [held.value]
    return any(holds(value, needles.names) for value in values)


def _any_id(value: str, needles: Needles) -> bool:
    return any(form in value and _whole(form).search(value) is not None for form in needles.forms)


def _whole(id: str) -> re.Pattern[str]:
    """An id may be anything that its caller chose, also what stands in other words."""
    return re.compile(rf"(?<![\w-]){re.escape(id)}(?![\w-])")


def _names(names: Collection[str]) -> re.Pattern[str]:
    parts = "|".join(r"\s+".join(map(re.escape, name.split())) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![^\W_])(?:{parts})(?![^\W_])", re.IGNORECASE)


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(normal(text)) if len(word) > SHORTEST}


# ---- records of corrections


def survivors_of(correction: Mapping[str, Any], people: Collection[str], turns: Collection[str]) -> dict[str, Any] | None:
    """What undoing it can still restore; None: nothing, as of a merge or verdict of who is erased. `turns_erased` of the record
    counts what it cannot. Sessions and names are settled anew and not as they were recorded: that names them.

    `correction`: id, kind, people, messages, and record as JSON. Raises nothing; what it was given stays as it was."""
    left = [id for id in correction["people"] if id not in people]
    if correction["kind"] in VERDICTS:
        return None if len(left) < len(correction["people"]) else _as_kept(correction, left, correction["messages"])
    record: dict[str, Any] = json.loads(correction["record"])
    kept = [turn for turn in record["turns"] if turn["message_id"] not in turns and turn["speaker_id"] not in people]
    if not kept:
        return None
    record |= {
        "turns_erased": record.get("turns_erased", 0) + len(record["turns"]) - len(kept),
        "turns": [{**turn, **{edge: _without(turn[edge], people) for edge in ("speaks", "uttered")}} for turn in kept],
        "exemplars": [e for e in record["exemplars"] if e["owner"] not in people and e["now"] not in people],
        "counts": {person: change for person, change in record["counts"].items() if person not in people},
        "tracks": {id: _base(base, people) for id, base in record["tracks"].items()},
        "not_same": [pair for pair in record["not_same"] if not set(people) & set(pair)],
        "to": None if record["to"] in people else record["to"],
        "split": None if record["split"] and record["split"]["person"] in people else record["split"],
        "sessions": {},
        "names": None,
    }
    return _as_kept({**correction, "record": _json(record)}, left, [turn["message_id"] for turn in kept])


VERDICTS = ("merge", "not_same")


def _as_kept(correction: Mapping[str, Any], people: Sequence[str], messages: Sequence[str]) -> dict[str, Any]:
    return {"id": correction["id"], "people": list(people), "messages": list(messages), "record": correction["record"]}


def _without(edge: Mapping[str, Any] | None, people: Collection[str]) -> dict[str, Any] | None:
    """The scores of a decision, without who came second."""
    return None if edge is None else {name: None if value in people else value for name, value in edge.items()}


def _base(base: Mapping[str, Any] | None, people: Collection[str]) -> dict[str, Any] | None:
    if base is None or base["person_id"] in people:
        return None
    return {**base, "properties": _without(base["properties"], people)}


def _json(record: Mapping[str, Any]) -> str:
    return json.dumps(record, sort_keys=True, separators=(",", ":"))
