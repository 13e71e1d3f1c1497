"""What follows from a complete session? Its facts, what it speaks of, how people felt and sounded, and a mirror's copy: one
after the other, each left as it is where it is there already. Broken off anywhere, the same call goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from service.graph.driver import Graph
from service.pipelines.entities import RememberEntities
from service.pipelines.facts import RememberFacts
from service.pipelines.mirror import Mirror
from service.pipelines.personas import RememberPersonas
from service.pipelines.revise_facts import revise_facts
from service.pipelines.sounds import RememberSounds
from service.pipelines.stopwatch import Stopwatch
from service.types.audio import Progress


@dataclass(frozen=True, slots=True)
class AfterwardsConfig:
    """Of the progress, which counts what comes before, too."""

    closed_share: float = 0.97  # for all until the session is complete; then come its facts
    read_share: float = 0.99  # for all until the facts are written; then comes what they speak of
    known_share: float = 0.995  # for all but the mirror


@dataclass(frozen=True, slots=True)
class Afterwards:
    """One a process. What is None is left to be read later, or by nobody: see Ingest."""

    graph: Graph
    facts: RememberFacts | None = None
    entities: RememberEntities | None = None
    personas: RememberPersonas | None = None
    sounds: RememberSounds | None = None
    mirror: Mirror | None = None
    config: AfterwardsConfig = AfterwardsConfig()

    async def __call__(
        self,
        space: str,
        session_id: str,
        *,
        sound: Path | None = None,
        by_channel: bool = False,
        given: bool = False,
        again: bool = False,
        watch: Stopwatch | None = None,
        progress: Progress = lambda share, stage: None,
    ) -> Mapping[str, int]:
        """Why what might have been a fact is none, and how often. `sound`: what there is to hear, with speakers `by_channel`
        and words of a transcript `given` beside it. `again`: what was said is no more what it was when it was read.

        Raises what each of them raises."""
        watch = watch or Stopwatch()
        dropped: Mapping[str, int] = {}
        if self.facts is not None:
            progress(self.config.closed_share, "facts")
            with watch.stage("facts"):
                dropped = (await self.facts(space, session_id, again=again)).dropped
            with watch.stage("facts"):
                await revise_facts(self.graph, space, session_id)
        if self.entities is not None:
            progress(self.config.read_share, "entities")
            with watch.stage("entities"):
                await self.entities(space, session_id, again=again)
        if self.personas is not None:
            with watch.stage("personas"):
                await self.personas(space, session_id, sound=sound, by_channel=by_channel)
        if self.sounds is not None and sound is not None:
            with watch.stage("sounds"):
                await self.sounds(space, session_id, sound=sound, by_channel=by_channel, given=given)
        if self.mirror is not None:
            progress(self.config.known_share, "mirror")
            with watch.stage("mirror"):
                await self.mirror(space, session_id)
        return dropped
