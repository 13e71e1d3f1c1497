"""Who is who where a recording is processed again? Decided as if it never had been: voices without what was learnt of them
there, so that nobody weighs twice; and whose voice is known by nothing else is who was held to speak at that moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from service.graph.driver import Graph
from service.graph.former import FormerTurn, list_former, list_former_turns
from service.graph.succession import list_begun
from service.identity.policies import recomputed
from service.pipelines.gallery import Candidates, Voices
from service.types.audio import Samples, Segment
from service.types.people import PersonVoice

SHARE = 0.5
"""Of a turn, that somebody must have been held to speak: more than anybody else then."""


class Former:
    """Turns of the session that is to be replaced. `beside`: messages of revisions begun of it before, which go with it."""

    def __init__(self, turns: Sequence[FormerTurn], beside: Iterable[str] = ()) -> None:
        self.num_turns = len(turns)
        self.messages = frozenset((*(turn.message_id for turn in turns), *beside))
        spoken = [turn for turn in turns if turn.person_id is not None]
        self.people = sorted({turn.person_id for turn in spoken if turn.person_id is not None})
        self._starts = np.array([turn.start for turn in spoken], dtype=np.float64)
        self._ends = np.array([turn.end for turn in spoken], dtype=np.float64)
        self._whose = np.array([self.people.index(turn.person_id or "") for turn in spoken], dtype=np.intp)

    @classmethod
    async def read(cls, graph: Graph, space: str, session_id: str, *, by: str) -> Former:
        """`by`: id of the revision that is to take its place."""
        begun = [one for one in await graph.read(list_begun, space, [session_id]) if one != by]
        beside = [turn.message_id for one in begun for turn in await graph.read(list_former_turns, space, one)]
        return cls(await graph.read(list_former_turns, space, session_id), beside)

    def speaker(self, segment: Segment) -> str | None:
        """Id of who was held to speak then, for more than SHARE of it."""
        if not self.people:
            return None
        together = np.minimum(self._ends, segment.end) - np.maximum(self._starts, segment.start)
        seconds = np.bincount(self._whose, weights=together.clip(min=0.0), minlength=len(self.people))
        most = int(np.argmax(seconds))
        return self.people[most] if seconds[most] > SHARE * (segment.end - segment.start) else None


class VoicesWithout:
    """What `voices` tells of a space, without what was learnt in `former`; with who spoke there, as they are now."""

    def __init__(self, voices: Voices, graph: Graph, former: Former, policy: str) -> None:
        self._voices, self._graph, self._former, self._policy = voices, graph, former, policy

    async def __call__(self, space: str, vectors: Sequence[Samples], *, near: Iterable[str] = ()) -> Candidates:
        """Of people whose counts have changed since, the revision has moved: what rests on it is not written."""
        found = await self._voices(space, vectors, near=near)
        former = await self._graph.read(list_former, space, self._former.people)
        left = {person: one for person, voice in found.voices.items() if (one := self._without(voice)) is not None}
        return replace(found, voices=left, former=former)

    def learnt(self, space: str, before: int, after: int, voices: Iterable[PersonVoice], gone: Iterable[str] = ()) -> None:
        """Nothing: these are not the whole voices, and are read again."""

    def _without(self, voice: PersonVoice) -> PersonVoice | None:
        left = tuple(one for one in voice.exemplars if one.message_id not in self._former.messages)
        if len(left) == len(voice.exemplars):
            return voice
        return recomputed(replace(voice, exemplars=left), self._policy) if left else None
