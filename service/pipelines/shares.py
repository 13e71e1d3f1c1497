"""What do people tell others of what they are like? Each attitude or trait by itself, to one person, until they take it back.

Who it was shared with sees it as it stands for its subject now, whatever turns it rests on: that is what sharing means. They
see none of these turns that they may not read, and no count of them; and nobody sees it while somebody else listens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from service.errors import InvalidInput, NotFound
from service.graph.access import read_scope
from service.graph.people import find_people, list_same_people
from service.graph.personas import find_subject
from service.graph.shares import Share, forget_shares, list_shared_with, list_shares, save_share
from service.graph.spaces import lock_space
from service.pipelines.personas import find_personas
from service.types.affect import Persona
from service.types.people import Assurance, Viewer
from service.types.plain import MAX_TEXT

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

MOST = 50
"""Attitudes and traits shown that others shared."""


@dataclass(frozen=True, slots=True)
class SharedPersona:
    """What somebody shared with the asker, as it stands now."""

    by: str
    """Id of the person whose it is, as they are shown."""
    persona: Persona
    at: datetime
    """When it was shared, UTC."""


async def share_persona(tx: Tx, scope: ReadScope, trait: str, to: str, now: datetime) -> None:
    """The asker lets the person `to` know of what they are like. Raises NotFound for what is not the asker's to see, or not to
    see with somebody listening, and for a person they know nothing of; InvalidInput for themselves."""
    await lock_space(tx, scope.space)
    found = next((one for one in await find_personas(tx, scope, None, now) or () if trait in _ids(one, scope)), None)
    if found is None:
        raise NotFound(kind="persona", id=trait[:MAX_TEXT])
    if to not in await find_people(tx, scope, [to]):
        raise NotFound(kind="person", id=to[:MAX_TEXT])
    if not set(scope.own).isdisjoint(await list_same_people(tx, scope, [to])):
        raise InvalidInput(what="whom it is shared with", given="the person whose it is", needed="somebody else")
    await save_share(tx, scope, to, found.trait_of(scope.own[0]), against=found.polarity < 0)


async def unshare_persona(tx: Tx, scope: ReadScope, trait: str, to: str, now: datetime) -> None:
    """Take that back, also from whoever is shown as one with `to`. Raises NotFound where it was not shared with them, and for
    who is not whose it is."""
    await lock_space(tx, scope.space)
    own = await find_subject(tx, scope, None)
    known = [ids for one in await find_personas(tx, scope, None, now) or () if trait in (ids := _ids(one, scope))]
    traits = {trait}.union(*known)  # what has faded is not among these, and is taken back all the same
    if not own or not await forget_shares(tx, scope, await list_same_people(tx, scope, [to]), sorted(traits)):
        raise NotFound(kind="share", id=trait[:MAX_TEXT])


async def find_shares(tx: Tx, scope: ReadScope) -> dict[str, tuple[Share, ...]]:
    """By trait: whom the asker shares it with. Empty for anybody else, and while anybody else listens."""
    if not await find_subject(tx, scope, None):
        return {}
    found: dict[str, list[Share]] = {}
    for share in await list_shares(tx, scope):
        found.setdefault(share.trait, []).append(share)
    return {trait: tuple(each) for trait, each in found.items()}


async def find_shared(tx: Tx, scope: ReadScope, now: datetime, by: str | None = None) -> tuple[SharedPersona, ...]:
    """What others shared with the asker (`by`: only this person), whom the asker knows; the strongest of each first."""
    if not await find_subject(tx, scope, None):
        return ()
    shares = await list_shared_with(tx, scope)
    shown = {share.by: share.by_shown for share in shares}
    known = await find_people(tx, scope, sorted(set(shown.values())))
    wanted = None if by is None else await list_same_people(tx, scope, [by])
    found: dict[tuple[str, ...], SharedPersona] = {}
    for person in shown:
        if shown[person] not in known or (wanted is not None and person not in wanted):
            continue
        theirs = await read_scope(tx, Viewer(scope.space, None, person, (person,), False, Assurance.NONE))
        subject = min(theirs.own)
        for persona in await find_personas(tx, theirs, None, now) or ():
            ids, against = _ids(persona, theirs), persona.polarity < 0
            given = [one.at for one in shares if one.by in theirs.own and one.trait in ids and one.against == against]
            if given:
                found.setdefault((subject, *persona.key), SharedPersona(shown[person], persona, min(given)))
    return tuple(found.values())[:MOST]


def _ids(persona: Persona, scope: ReadScope) -> frozenset[str]:
    """Of one persona of the asker, by each of the ids that they are: it may have been shared before these were one."""
    return frozenset(persona.trait_of(id) for id in scope.own)
