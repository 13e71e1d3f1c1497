"""Two evenings on which Ana laughs about a trip and Ben talks on, and the recording of the first; who agrees to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from service.audio.sounds.signals import SignalTagger
from service.graph.driver import Graph
from service.graph.forget_sounds import KEEP_AUDIO
from service.graph.spaces import get_space, save_space
from service.graph.write_consents import save_consent
from service.pipelines.sounds import RememberSounds, SessionHeard, SoundsConfig
from service.types.people import Consent
from service.types.sounds import SoundTagger
from tests.graph.graph_builders import HashedWords, Said, World, seed
from tests.laughs import laugh, recording, talk, tone

EVERYBODY = ["ana", "ben"]
LINES = [
    ("ben", "The trip to Cork begins on Friday."),
    ("ana", "You forgot the tent again."),
    ("ben", "And the stove, and the map of the trip."),
    ("ana", "We can sleep in the car."),
    ("ben", "The dentist called about the bill."),
    ("ana", "Tell them that it is paid."),
]
"""Ana laughs in the second; in the fourth, her telephone rings; in the fifth, Ben laughs."""


def lines(session: str = "monday") -> list[Said]:
    vectors = HashedWords().passages([text for _, text in LINES])
    return [
        Said(by, text, EVERYBODY, to=[{"ana": "ben", "ben": "ana"}[by]], session=session, vector=vector)
        for (by, text), vector in zip(LINES, vectors, strict=True)
    ]


async def told(graph: Graph, space: str, said: Sequence[Said] | None = None) -> World:
    return await seed(graph, space, ["ana", "ben", "cleo"], said or lines())


def evening(folder: Path) -> Path:
    """Each line where the builder puts it: at 4 s times its number, three seconds long."""
    sounds = [talk(3.0, 120.0 if by == "ben" else 210.0, seed=number) for number, (by, _) in enumerate(LINES)]
    for number in (1, 4):
        sounds[number] = np.concatenate([talk(0.8, 210.0, seed=number), laugh(9)])
    rung = sounds[3].copy()
    rung[8_000:24_000] += tone(1.0)
    sounds[3] = rung
    return recording(folder / "evening.wav", [(4.0 * number, sound) for number, sound in enumerate(sounds)], 24.0)


def listening(graph: Graph, tagger: SoundTagger | None = None, config: SoundsConfig | None = None) -> RememberSounds:
    made = tagger or SignalTagger()

    async def ready() -> SoundTagger:
        return made

    return RememberSounds(graph, ready, made.name, config)


async def listen(
    world: World, sound: Path, session: str = "monday", tagger: SoundTagger | None = None, *, given: bool = False
) -> SessionHeard:
    return await listening(world.graph, tagger)(world.space, world.session(session), sound=sound, given=given)


async def agree(world: World, name: str, state: Consent = Consent.GRANTED, at: datetime | None = None) -> None:
    await world.graph.write(
        save_consent, world.space, world.person(name), state, text_version="1", channel="form", at=at or datetime.now(UTC),
        purpose=KEEP_AUDIO,
    )  # fmt: skip


async def policy(world: World, **changed: object) -> None:
    settings = await world.graph.read(get_space, world.space)
    await world.graph.write(save_space, replace(settings, **changed))  # type: ignore[arg-type]
