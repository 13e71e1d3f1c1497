"""What of what others said is of somebody who is erased? Their names, facts that say something of them, and facts that owe
words to what they said; and what a string that holds their ids or names is to be instead. Pure.

Others' messages keep their text, also where it calls the name: who reads it was there. A name that somebody else has, too, or
that is a word, goes only from where they were, and only where it stands as a name (service/memory/erased_names.py)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

from service.memory.erased_names import SHORTEST, Names, holds, is_ordinary, named, without_names
from service.types.erasure import FactSeen, Held, Needles
from service.types.names import normal

ERASED = "erased"
"""Stands where a string must stand and what it said is gone."""
_WORD = re.compile(r"[^\W_]+")
DEEPEST = 100
"""Levels of JSON that are looked through one by one; what the service keeps nests ten deep, and what people say is anything."""
_ADDRESSEE = "{addressee}"


def facts_that_go(seen: Iterable[FactSeen], names: Names) -> tuple[str, ...]:
    """Ids of those without support by what stays, and of those about who is erased."""
    return tuple(sorted({fact.id for fact in seen if _unsupported(fact) or _about(fact, names)}))


def named_elsewhere(seen: Iterable[FactSeen], names: Names) -> frozenset[str]:
    """Ids of those that go for a name alone, and are of where they were not."""
    told = [fact for fact in seen if not fact.where_they_were]
    stay = {fact.id for fact in told if _unsupported(fact)}
    return frozenset(fact.id for fact in told if _about(fact, names)) - stay


def _about(fact: FactSeen, names: Names) -> bool:
    there = fact.where_they_were
    called = (*names.alone, *(name for name in names.shared if there and not is_ordinary(name)))
    words = (*names.words, *filter(is_ordinary, names.shared)) if there else ()
    said = [text for text in (fact.statement, fact.value) if text]
    return any(holds(text, called) or named(text, words, fact.people) for text in said)


def _unsupported(fact: FactSeen) -> bool:
    told = fact.told_them and _ADDRESSEE in fact.statement
    return fact.source_erased or told or owes(fact)


def owes(fact: FactSeen) -> bool:
    """Whether a word of the statement was said in what goes and nowhere in what stays."""
    gone, kept = (_words(" ".join(texts)) for texts in (fact.erased_texts, fact.kept_texts))
    return bool(_words(fact.statement) & (gone - kept))


# ---- strings


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Fate(Enum):
    """What becomes of the node that a string stands on."""

    STAYS = "stays"
    GOES = "goes"


GOES_WITH_A_NAME = frozenset({"Entity", "Fact", "NameProposal"})
"""Labels whose nodes are about whom they name: of others' questions, jobs and images the name alone goes."""
GOES_WITH_AN_ID = frozenset({"Query", "Job", "Webhook", "Grant"})
KEEPS = frozenset({"AuditEvent", "Consent", "Erasure", "Receipt", "OptOut"})
"""Labels of what is kept as proof, ids and all."""
OTHERS_WORDS = frozenset({("Message", "text"), ("Message", "captions"), ("Delivery", "body"), ("Delivery", "carried")})
"""Where a name may stand: it is others who said it. What meetings' backends sent goes by itself, some days after their end."""
TOLD = frozenset({("Session", "erased_facts"), ("Event", "people"), ("Event", "session_id")})
"""Where an id stands to say that it is erased; of events those of before name it no more, and all go after some days."""
CHECKPOINT = ("Session", "checkpoint")
"""Of a session that broke off: it goes as a whole, and what is delivered again is heard anew. That of an open one is not looked
at: whoever writes it holds what it says, and there is no receipt before it is complete."""
OTHERS_NAMES = frozenset({("Person", "display_name"), ("Person", "aliases")})
CODES = frozenset({("Session", "error")})
TELLS = _words_of(
    """
    about_words aliases answers attribute body caption captions carried description display_name error evidence
    external_id headers label marks name normal_name query record reference request result said_to statement subject
    surface text title trait url value why
    """
)
"""Properties whose strings somebody wrote, and may name somebody."""
KINDS = _words_of(
    """
    about about_precision access account accounts action actor addressed_to affect_by affect_of anonymous_voices
    asked_by aspect audience beside body_hash body_sha256 bots_before by change channel channels checkpoint compared_as
    connection consent content_hash correction correction_id counts decided_by decision disabled_why document doubts embedder
    emotion encoder encoder_version entities_by erased_facts erased_names erased_sources event_id extractor facts facts_by
    given_id held how id issuer key kind kinds language lease leased_by made_by mark meeting_id meetings
    message_id messages mirrored named_by names of opt_outs people person_id policy provenance provider purpose readers
    reason recorded_by replaces revoked_by role roster routing runner_up_id session_id sessions shared_names signature sounds_by
    sounds_of sound_in source sources space speaker_id stage state status tag tagger target text_version thinned_of token_id
    transcript twin_of type undone_by uploads voice_access voices waveform webhook_id what words zone
    """
)
"""Those that hold ids, kinds of something, hashes and versions: who is called Link or Complete is not meant there."""
KEYS = _words_of(
    "aspect channel decision emotion encoder held how kind policy provider reason role source sources state status type"
)
"""The same of keys in JSON."""
IDENTIFIES = frozenset({"external_id", "subject"})
NAMELESS = frozenset({"Webhook", "AudioMemory"})
NO_NAME = frozenset({"external_id", "subject", "headers", "query", "error", "reference"})
"""Of TELLS those where a word of a language is no name, even if it is all that stands there."""
NOBODYS = frozenset({"speaker_id", "runner_up_id", "affect_of", "of", "person_id", "asked_by", "replaces"})
"""Properties that are none where nobody is named."""


def is_left(held: Held, needles: Needles) -> bool:
    """Whether it must not stand there."""
    return _has_id(held, needles) or _has_name(held, needles)


def fate(held: Held, needles: Needles) -> Fate:
    goes = (held.label in GOES_WITH_AN_ID and _has_id(held, needles)) or (
        held.label in GOES_WITH_A_NAME and _has_name(held, needles)
    )
    return Fate.GOES if goes else Fate.STAYS


def is_elsewhere(held: Held, needles: Needles) -> bool:
    """Whether only a name speaks for it, where who is erased was not."""
    return not held.there and not _has_id(held, needles) and _has_name(held, needles)


def redacted(held: Held, needles: Needles) -> Any:
    """What is to stand there instead; None: nothing."""
    if (held.label, held.property) == CHECKPOINT:
        return None
    value, (names, words) = held.value, _looked_for(held, needles)
    if held.property == "marks" and isinstance(value, str):
        marks = [(mark, replace(held, value=json.dumps(mark))) for mark in json.loads(value)]
        kept = [mark for mark, told in marks if not is_left(told, needles)]
        return json.dumps(kept, ensure_ascii=False) if kept else None
    if isinstance(value, list):
        kept = [item for item in value if not (_any_id(item, needles) or _names(item, held, needles))]
        return kept or ([] if value else None)
    if _any_id(value, needles) and value in needles.forms:
        return None if held.property in NOBODYS else ERASED
    if held.label == "LocalSpeaker" and _has_name(held, needles):
        return ERASED
    if held.property in IDENTIFIES and is_left(held, needles):
        return f"{ERASED}-{held.node.rpartition(':')[2]}"  # none is there twice
    for form in needles.forms:
        value = _whole(form).sub(ERASED, value)
    return _nameless(value, names, words) if _has_name(held, needles) else value


def _nameless(value: str, names: Collection[str], words: Collection[str]) -> str:
    told = _told(value)
    if told is None:
        return without_names(value, names, words)
    return json.dumps(_each(told, names, words), ensure_ascii=False)


def _each(told: Any, names: Collection[str], words: Collection[str]) -> Any:
    """JSON without names, key by key."""
    if isinstance(told, dict):
        return {
            without_names(key, names, words): value if key in KEYS else _each(value, names, words)
            for key, value in told.items()
        }
    if isinstance(told, list):
        return [_each(value, names, words) for value in told]
    return without_names(told, names, words) if isinstance(told, str) else told


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
    values = held.value if isinstance(held.value, list) else [held.value]
    return any(_names(value, held, needles) for value in values)


def _names(value: str, held: Held, needles: Needles) -> bool:
    names, words = _looked_for(held, needles)
    told = _told(value)
    texts = [value] if told is None else _texts(told)
    return any(holds(text, names) or named(text, words, held.people) for text in texts)


def tells(text: str, names: Collection[str]) -> bool:
    """Whether one of `names` stands in `text`, or in what it tells as JSON."""
    told = _told(text)
    return any(holds(one, names) for one in ([text] if told is None else _texts(told)))


def _looked_for(held: Held, needles: Needles) -> tuple[Collection[str], Collection[str]]:
    """Which names there, and which words as names."""
    place = (held.label, held.property)
    if held.property not in TELLS or held.label in NAMELESS or place in OTHERS_WORDS | OTHERS_NAMES | CODES:
        return (), ()
    if held.label in KEEPS:
        return (_whole_names(needles.names) if held.property == "why" else ()), ()
    as_names = held.there and not held.is_edge and held.property not in NO_NAME
    return needles.names, (needles.words if as_names else ())


def _whole_names(names: Collection[str]) -> tuple[str, ...]:
    """Without first names: in a reason that somebody gave they may be anybody's."""
    return tuple(name for name in names if not any(other.startswith(f"{name} ") for other in names))


def _told(value: str) -> Any:
    """What JSON tells, whose letters may be escaped; None where it is no JSON of several things, or deeper than anything that
    is kept here: then its letters count as they stand."""
    if not value.startswith(("{", "[")):
        return None
    try:
        told = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return None if _is_deep(told) else told


def _is_deep(told: Any) -> bool:
    level = [told]
    for _ in range(DEEPEST):
        level = [x for one in level if isinstance(one, dict | list) for x in (one.values() if isinstance(one, dict) else one)]
    return bool(level)


def _texts(told: Any) -> Iterator[str]:
    if isinstance(told, str):
        yield told
    elif isinstance(told, dict):
        for key, value in told.items():
            yield key
            yield from () if key in KEYS else _texts(value)
    elif isinstance(told, list):
        for one in told:
            yield from _texts(one)


def _any_id(value: str, needles: Needles) -> bool:
    return any(form in value and _whole(form).search(value) is not None for form in needles.forms)


def _whole(id: str) -> re.Pattern[str]:
    """An id may be anything that its caller chose, also what stands in other words."""
    return re.compile(rf"(?<![\w-]){re.escape(id)}(?![\w-])")


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(normal(text)) if len(word) > SHORTEST}


# ---- records of corrections


def survivors_of(correction: Mapping[str, Any], people: Collection[str], turns: Collection[str]) -> dict[str, Any] | None:
    """What undoing it can still restore; None: nothing, as of a merge or verdict of who is erased, or of bots who all are.
    `turns_erased` of the record counts what it cannot. Sessions and names are settled anew and not as they were recorded: that
    names them.

    `correction`: id, kind, people, messages, and record as JSON. Raises nothing; what it was given stays as it was."""
    left = [id for id in correction["people"] if id not in people]
    if correction["kind"] in VERDICTS:
        return None if len(left) < len(correction["people"]) else _as_kept(correction, left, correction["messages"])
    record: dict[str, Any] = json.loads(correction["record"])
    if correction["kind"] == BOT:
        record["bots"] = [id for id in record["bots"] if id not in people]
        return _as_kept({**correction, "record": _json(record)}, left, correction["messages"]) if record["bots"] else None
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
BOT = "bot"


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
