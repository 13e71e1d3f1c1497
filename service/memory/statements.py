"""How is a statement read? Its slots are filled with whom the viewer may see there, or left out where nobody is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from service.types.facts import ADDRESSEE, SPEAKER, KnownFact
from service.types.memory import How

SOMEBODY, OTHERS = "somebody", "the others"
_NAME = re.compile(f"{re.escape(SPEAKER)}|{re.escape(ADDRESSEE)}")
_SLOT = re.compile(rf"(?:{_NAME.pattern})(?:['’]s)?")


def rendered(statement: str, speaker: str | None, addressees: Sequence[str]) -> str:
    """With the names of who said it and of whom it was said to; begins with a capital letter."""
    said = filled(statement, speaker, addressees)
    return said[:1].upper() + said[1:]


def filled(template: str, speaker: str | None, addressees: Sequence[str]) -> str:
    to = " and ".join(filter(None, [", ".join(addressees[:-1]), *addressees[-1:]]))
    names = {SPEAKER: speaker or SOMEBODY, ADDRESSEE: to or OTHERS}
    return _NAME.sub(lambda slot: names[slot[0]], template)


def read_out(fact: KnownFact, names: Mapping[str, str | None]) -> str:
    """`names`: of people that the viewer may know of, by id. What was said to all in the room was said to the others."""
    return rendered(fact.statement, *_named(fact, names))


def value_read_out(fact: KnownFact, names: Mapping[str, str | None]) -> str | None:
    """Of its attribute, in the same way."""
    return None if fact.value is None else filled(fact.value, *_named(fact, names))


def _named(fact: KnownFact, names: Mapping[str, str | None]) -> tuple[str | None, list[str]]:
    to = [a.person_id for a in fact.addressees if a.how is not How.ALL]
    return names.get(fact.speaker_id) if fact.speaker_id else None, [names.get(id) or SOMEBODY for id in to]


def people_of(facts: Iterable[KnownFact]) -> list[str]:
    """Ids of everybody whose name `read_out` asks for."""
    return sorted({id for f in facts for id in (f.speaker_id, *(a.person_id for a in f.addressees)) if id})


def without_people(statement: str) -> str:
    """What is embedded: the statement without its slots, so that no name draws it near."""
    return " ".join(_SLOT.sub(" ", statement).split())
