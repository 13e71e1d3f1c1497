"""Which messages answer by how they sound? Where a question names a sound, what is heard in visible messages near what it is
about joins the candidates of a round, and goes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from service.graph.messages import find_messages
from service.graph.sounds import list_sounds
from service.retrieval.plan import Plan
from service.retrieval.ranking import Candidate, Pool
from service.retrieval.rounds import raised
from service.retrieval.sounds import asks_for_sounds, is_about, near, without_sounds
from service.types.candidates import Place
from service.types.search import Filters, Found, Tool
from service.types.sounds import KeptSound

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph


@dataclass(frozen=True, slots=True)
class SoundLegConfig:
    sounds: int = 500  # the newest that are looked at: more than anybody asks about
    joining: int = 30  # that join the candidates of a round
    best: int = 60  # candidates that sounds may be near to
    raised: float = 2.0  # added to the log odds, as for what the edges confirm (RoundsConfig)


@dataclass(frozen=True, slots=True)
class SoundsHeard:
    """What was heard in visible messages that the question asks for; empty where it asks for none."""

    sounds: tuple[KeptSound, ...] = ()
    about: bool = False
    """Something is left of the question that they are to be near to."""
    config: SoundLegConfig = SoundLegConfig()

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(dict.fromkeys(sound.place for sound in self.sounds[: self.config.joining]))

    async def joined(self, graph: Graph, scope: ReadScope, pool: Pool) -> Pool:
        """`pool` with the messages of those sounds that are near its best, raised."""
        if not self.sounds:
            return pool
        best = pool.candidates[: self.config.best]
        messages = await graph.read(find_messages, scope, [one.id for one in best])
        scores = {(m.session_id, m.index): one.score for one in best if (m := messages.get(one.id)) is not None}
        heard = {sound.message_id: sound for sound in reversed(self.sounds)}
        nearness = near([sound.place for sound in heard.values()], scores) if self.about else {}
        wanted = {
            id: nearness.get(sound.place, 0.0) for id, sound in heard.items() if not self.about or sound.place in nearness
        }
        return replace(pool, candidates=_raised(pool.candidates, heard, wanted, self.config), legs=(*pool.legs, self._leg))

    @property
    def _leg(self) -> str:
        return f"sound:{len(self.sounds)}"


async def listen_for(
    graph: Graph, scope: ReadScope, aim: Plan, question: str, filters: Filters, now: datetime
) -> tuple[Plan, SoundsHeard]:
    """What is left of the plan, and the sounds; the plan as it was where the question names none, or none can be heard."""
    labels = asks_for_sounds(question)
    if not labels:
        return aim, SoundsHeard()
    config = SoundLegConfig()
    whose = filters.speakers or (aim.speakers if aim.speakers else aim.people)
    found = await graph.read(list_sounds, scope, labels, replace(filters, speakers=whose), config.sounds, now=now)
    if not found and whose != filters.speakers:
        found = await graph.read(list_sounds, scope, labels, filters, config.sounds, now=now)
    if not found:
        return aim, SoundsHeard()
    rest = without_sounds(aim, labels)
    return rest, SoundsHeard(tuple(found), is_about(rest), config)


def _raised(
    candidates: Sequence[Candidate], heard: Mapping[str, KeptSound], wanted: Mapping[str, float], config: SoundLegConfig
) -> tuple[Candidate, ...]:
    """`wanted`: message id → how well what is near it answers. What no search found is no candidate, whatever it sounds like,
    unless it joined as one."""
    made = []
    for one in candidates:
        if one.id in wanted:
            found = tuple(f for f in one.found if f.tool is not Tool.SOUND)
            told = Found(Tool.SOUND, 1 + list(wanted).index(one.id), heard[one.id].score)
            because = (("sound", config.raised), *one.because)
            score = raised(max(one.score, wanted[one.id]), config.raised)
            one = Candidate(one.id, score, (*found, told), because)
        else:
            one = replace(one, found=tuple(f for f in one.found if f.tool is not Tool.SOUND))
        made.append(one)
    return tuple(sorted(made, key=lambda one: (-one.score, one.id)))
