"""What of a search's result, and of what the asker is like, may be remembered aloud? Everything here is read with one scope:
what others who listen may not know is not among it, and nobody's attitudes but the asker's own, heard by nobody else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from service.graph.people import find_people
from service.memory.right_brain import said
from service.pipelines.personas import find_personas
from service.streaming.prompt import Brain, Recalled
from service.types.search import Hit

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx


async def recalled(tx: Tx, scope: ReadScope, hits: Sequence[Hit], now: datetime) -> tuple[Recalled, ...]:
    """The hits' messages with names as the asker knows them, and what the asker is like `now`; each with its sources."""
    personas = await find_personas(tx, scope, None, now) or ()
    messages = [hit.message for hit in hits]
    ids = {m.speaker_id for m in messages if m.speaker_id} | {to.person_id for m in messages for to in m.addressees}
    concerned = {person for persona in personas if (person := said.person_of(persona))}
    people = await find_people(tx, scope, sorted(ids | concerned | set(scope.asker[:1])))
    called = {id: person.display_name for id, person in people.items() if person.display_name}
    left = [
        Recalled(
            Brain.LEFT,
            hit.message.text,
            (hit.message.id,),
            hit.score,
            by=called.get(hit.message.speaker_id or ""),
            to=tuple(sorted({called[to.person_id] for to in hit.message.addressees if to.person_id in called})),
            said_at=hit.message.said_at,
        )
        for hit in hits
        if hit.message.text
    ]
    name = called.get(scope.asker[0], "The asker") if scope.asker else ""
    right = [
        Recalled(Brain.RIGHT, f"{name} {said.in_words(persona, called)}", persona.evidence, persona.intensity)
        for persona in personas
    ]
    return (*left, *right)
