"""How is a statement read? Its slots are filled with whom the viewer may see there, or left out where nobody is meant."""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.types.facts import ADDRESSEE, SPEAKER

SOMEBODY, OTHERS = "somebody", "the others"
_NAME = re.compile(f"{re.escape(SPEAKER)}|{re.escape(ADDRESSEE)}")
_SLOT = re.compile(rf"(?:{_NAME.pattern})(?:['’]s)?")


def rendered(statement: str, speaker: str | None, addressees: Sequence[str]) -> str:
    """With the names of who said it and of whom it was said to; begins with a capital letter."""
    to = " and ".join(filter(None, [", ".join(addressees[:-1]), *addressees[-1:]]))
    names = {SPEAKER: speaker or SOMEBODY, ADDRESSEE: to or OTHERS}
    named = _NAME.sub(lambda slot: names[slot[0]], statement)
    return named[:1].upper() + named[1:]


def without_people(statement: str) -> str:
    """What is embedded: the statement without its slots, so that no name draws it near."""
    return " ".join(_SLOT.sub(" ", statement).split())
