"""How do people feel in what they say, and what of it stays? A session's turns are read once it is complete, by people who
agreed to it; then each of them is consolidated anew. Broken off anywhere, it goes on with the turns that are not read yet."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from service.audio import decode
from service.audio.prosody import prosody
from service.graph.driver import Graph, Tx
from service.graph.erase_names import list_noted_names
from service.graph.personas import find_subject, list_shown
from service.graph.spaces import lock_space
from service.graph.write_personas import (
    TurnToFeel,
    list_felt_in,
    list_measured_before,
    list_shown_of,
    list_turns_to_feel,
    list_willing,
    save_affect,
    save_personas,
)
from service.memory.erased_names import is_noted
from service.memory.right_brain.affect import Usual, usual, with_voice
from service.memory.right_brain.consolidate import ConsolidateConfig, consolidate, target_key
from service.memory.right_brain.said import description
from service.pipelines.named import people_named_in
from service.types.affect import FeelingReader, FeltTurn, Mark, Persona, Prosody, SaidFeelings, Shown, TurnAffect
from service.types.audio import Segment, Waveform
from service.types.ids import derived

if TYPE_CHECKING:
    from service.graph.access import ReadScope

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PersonasConfig:
    batch: int = 80  # turns read, and written, at a time: what a language model reads at once (FeelingModelConfig); who takes
    # consent back meanwhile has no word read after these
    usual: int = 200  # measured turns of a speaker, the newest, that tell how they usually sound: some hours of talk
    decoded: float = 30.0  # seconds of sound in memory at a time


@dataclass(frozen=True, slots=True)
class SessionFelt:
    session_id: str
    num_read: int
    """Turns read now; of people who did not agree none is."""
    people: tuple[str, ...]
    """Whose they are."""


class RememberPersonas:
    """One a process."""

    def __init__(self, graph: Graph, reader: FeelingReader, config: PersonasConfig | None = None) -> None:
        self._graph, self._reader, self._config = graph, reader, config or PersonasConfig()

    @property
    def reader(self) -> str:
        """Name of what reads feelings; another one reads all turns again."""
        return self._reader.name

    async def __call__(
        self, space: str, session_id: str, *, sound: Path | None = None, by_channel: bool = False, again: bool = False
    ) -> SessionFelt:
        """`sound`: the recording, for how turns were spoken; without it, what was measured before is kept. `by_channel`: its
        channels hold different people. `again`: also the turns that were read before. Raises the decoder's errors, and the
        reader's: the same call then goes on."""
        turns = await self._graph.read(list_turns_to_feel, space, session_id, self.reader)
        waiting = [turn for turn in turns if turn.pending or again]
        if not waiting:
            await self._graph.write(consolidate_sessions, space, [session_id])  # of one broken off before it was
            return SessionFelt(session_id, 0, ())
        people = sorted({turn.person for turn in waiting})
        before = await self._graph.read(list_measured_before, space, session_id, people, self._config.usual)
        measured = await asyncio.to_thread(self._measured, turns, sound, by_channel)
        dropped, num_read = Counter[str](), 0
        for start in range(0, len(waiting), self._config.batch):
            some = await self._still_willing(space, waiting[start : start + self._config.batch])
            if not some:
                continue
            said = await self._reader([_as_read(turn) for turn in some], dropped)
            felt = self._felt(turns, some, measured, before, said)
            await self._graph.write(self._save, space, session_id, felt)
            num_read += len(felt)
        if dropped:
            log.info("marks dropped: %s", ", ".join(f"{why}: {number}" for why, number in sorted(dropped.items())))
        await self._graph.write(consolidate_sessions, space, [session_id])
        return SessionFelt(session_id, num_read, tuple(people))

    async def _save(self, tx: Tx, space: str, session_id: str, felt: Sequence[tuple[str, TurnAffect]]) -> None:
        """Without what concerns somebody who is erased: who called the name keeps their words."""
        await lock_space(tx, space)
        noted = await list_noted_names(tx, space, session_id)

        def stays(mark: Mark) -> bool:
            return not any(is_noted(session_id, noted, text) for text in (mark.target, mark.cause) if text)

        kept = [(person, replace(turn, marks=tuple(filter(stays, turn.marks)))) for person, turn in felt]
        await save_affect(tx, space, kept, self.reader)

    async def _still_willing(self, space: str, turns: Sequence[TurnToFeel]) -> list[TurnToFeel]:
        """Consent may be withdrawn while a session is read: what is not read by then is shown to no reader."""
        willing = await self._graph.read(list_willing, space, sorted({turn.person for turn in turns}))
        return [turn for turn in turns if turn.person in willing]

    def _measured(self, turns: Sequence[TurnToFeel], sound: Path | None, by_channel: bool) -> dict[str, Prosody]:
        """By message; with the level that the turn has in the graph, which is of all of its speech."""
        known = {turn.message_id: turn.prosody for turn in turns if turn.prosody is not None}
        if sound is None:
            return known
        channels = decode.tracks(sound) if by_channel else (None,)
        for channel in channels:
            own = [turn for turn in turns if channel is None or turn.track.startswith(f"channel_{channel + 1}/")]
            known |= _measured_on(sound, channel, own, self._config.decoded) if own else {}
        return known

    def _felt(
        self,
        turns: Sequence[TurnToFeel],
        waiting: Sequence[TurnToFeel],
        measured: Mapping[str, Prosody],
        before: Mapping[str, Sequence[tuple[str | None, Prosody]]],
        said: Mapping[str, SaidFeelings],
    ) -> list[tuple[str, TurnAffect]]:
        """Of those that were read."""
        usually = _usual(turns, measured, before, self._config.usual)
        felt = []
        for turn in waiting:
            if (words := said.get(turn.message_id)) is not None:
                sound = measured.get(turn.message_id)
                how = with_voice(words, sound, usually.get((turn.person, turn.channel)))
                felt.append((turn.person, TurnAffect(turn.message_id, how, words.marks, sound)))
        return felt


async def consolidate_person(tx: Tx, space: str, person: str) -> None:
    """Make the nodes of this very person anew, from the turns that are theirs as nobody's merge says; what time has taken is
    counted until they were last heard, so that doing it again changes nothing."""
    await lock_space(tx, space)
    shown, heard = await list_shown_of(tx, space, person)
    now = max([one.said_at for one in shown] + list(heard.values()), default=None)
    found = consolidate(_keyed(shown, {}), heard, now) if now is not None else ()
    await save_personas(tx, space, person, found, {persona: description(persona) for persona in found})


async def consolidate_sessions(tx: Tx, space: str, sessions: Sequence[str]) -> None:
    """Everybody whose turns of these sessions were read, after turns or addressees of them changed."""
    for person in await list_felt_in(tx, space, sessions):
        await consolidate_person(tx, space, person)


async def find_personas(tx: Tx, scope: ReadScope, person_id: str | None, now: datetime) -> tuple[Persona, ...] | None:
    """What the asker is like, if `person_id` (None: the asker) is them: from the turns of theirs that the scope holds, whoever
    they are merged with (confirmed). Somebody called by a name that one visible person alone has is that person. None where
    it is not theirs to see."""
    subject = await find_subject(tx, scope, person_id)
    if not subject:
        return None
    shown, heard = await list_shown(tx, scope, subject, now - ConsolidateConfig().window)
    names = sorted({one.target for one in shown if one.target and one.target[:1].isupper() and ":" not in one.target})
    near = await people_named_in(tx, scope, " ".join(names))
    called: dict[str, set[str]] = defaultdict(set)
    for id, known in near.items():
        for name in known:
            called[name.casefold()].add(id)
    return consolidate(_keyed(shown, {name: next(iter(ids)) for name, ids in called.items() if len(ids) == 1}), heard, now)


def _as_read(turn: TurnToFeel) -> FeltTurn:
    """Read together with turns of the same person alone that the same people may read."""
    together = derived("felt", turn.person, turn.audience) if turn.audience else None
    return FeltTurn(turn.message_id, turn.text, turn.language, together)


def _keyed(shown: Sequence[Shown], people: Mapping[str, str]) -> list[Shown]:
    """With targets that are one where they mean one."""
    return [replace(one, target=_key(one.target, people)) for one in shown]


def _key(target: str | None, people: Mapping[str, str]) -> str | None:
    if target is None or target.startswith("person:"):
        return target
    person = people.get(target.casefold())
    return f"person:{person}" if person else target_key(target)


def _usual(
    turns: Sequence[TurnToFeel],
    measured: Mapping[str, Prosody],
    before: Mapping[str, Sequence[tuple[str | None, Prosody]]],
    limit: int,
) -> dict[tuple[str, str | None], Usual]:
    """By person and channel: from this session and what was heard before it."""
    sounds: dict[tuple[str, str | None], list[Prosody]] = defaultdict(list)
    for turn in reversed(turns):
        if (sound := measured.get(turn.message_id)) is not None:
            sounds[turn.person, turn.channel].append(sound)
    for person, earlier in before.items():
        for channel, sound in earlier:
            sounds[person, channel].append(sound)
    found = {of: usual(heard[:limit]) for of, heard in sounds.items()}
    return {of: made for of, made in found.items() if made is not None}


def _measured_on(sound: Path, channel: int | None, turns: Sequence[TurnToFeel], decoded: float) -> dict[str, Prosody]:
    """Each turn within the pieces of sound that it lies in: the longer of them where it goes over an edge."""
    found: dict[str, tuple[float, Prosody]] = {}
    for piece in decode.blocks(sound, seconds=decoded, channel=channel):
        for turn in turns:
            inside = Segment(turn.start, turn.end).overlap(piece.segment)
            if inside > found.get(turn.message_id, (0.0,))[0] and (made := _spoken(piece, turn)) is not None:
                found[turn.message_id] = (inside, made)
    return {id: made for id, (_, made) in found.items()}


def _spoken(piece: Waveform, turn: TurnToFeel) -> Prosody | None:
    made = prosody(piece, [Segment(max(turn.start, piece.segment.start), min(turn.end, piece.segment.end))])
    if made is None:
        return None
    rate = round(len(turn.text.split()) / turn.net_speech, 2) if turn.net_speech > 0 else None
    return replace(made, level=made.level if turn.level is None else turn.level, rate=rate)
