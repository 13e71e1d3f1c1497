"""What is to be written of a meeting's turns, if this is how they are and that is what is there? The difference, no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from service.graph.write_meetings import Changes, TurnThere
from service.graph.write_sessions import NewMessage
from service.memory.meeting import Doubt, Participant, Turn
from service.pipelines.blame import embedded
from service.pipelines.written import NO_SOUND, UNHEARD
from service.types.accounts import SignedIn
from service.types.audio import Samples, Segment, SpeakerTurn, TextEmbedder
from service.types.ids import derived

BOT = "bot"
"""Doubt of a program's words, and why they are nobody's."""
DOUBTED = "doubted"
"""Why a turn is nobody's, and no login says whose: its platform is not sure of it itself."""


@dataclass(frozen=True, slots=True)
class Plan:
    turns: Sequence[TurnThere] = ()
    """To be written, as they are to be: those written before first, each where it stands, then the new ones."""
    num_new: int = 0
    changes: Changes = field(default_factory=Changes)

    def __bool__(self) -> bool:
        return bool(self.turns or self.changes)

    @property
    def undecided(self) -> frozenset[str]:
        """Ids of the turns that nobody has yet, or any more."""
        new = [turn.message_id for turn in self.turns[len(self.turns) - self.num_new :]]
        return frozenset((*new, *self.changes.undecided))


def plan(
    told: Mapping[str, Turn | None],
    there: Mapping[str, TurnThere],
    participants: Mapping[str, Participant],
    labels: Mapping[str, str],
    beside: Sequence[str] = (),
    *,
    session_id: str,
    started_at: datetime,
    next_index: int,
) -> Plan:
    """`told`: turns by key that may be otherwise than written, in the order in which they were told; None: gone. `there`: what
    is written, by message; `labels`: of its voices; `beside`: ids of messages of no turn, which go; of
    those that somebody looked at and put right, none goes without being told gone. `participants`: by track, all that
    are known. What was erased stays as it is, whatever is told of it."""
    again: list[TurnThere] = []
    new: list[TurnThere] = []
    withdrawn = [id for id in beside if id in there and not (there[id].is_corrected or there[id].is_erased)]
    for key, turn in told.items():
        id = message_id(session_id, key)
        before = there.get(id)
        if before is not None and before.is_erased:
            continue
        if turn is None:
            withdrawn += [id] if before is not None else []
            continue
        now = _turn(turn, id, participants.get(turn.track), session_id, started_at)
        if before is None:
            new.append(replace(now, index=next_index + len(new)))
        elif _content(now) != _content(before):
            whose = replace(now, decision=before.decision, speaker_id=before.speaker_id, reason=before.reason)
            again.append(replace(whose, index=before.index))
    moved = {
        turn.message_id: turn.local_speaker for turn in again if turn.local_speaker != there[turn.message_id].local_speaker
    }
    silent = {turn.local_speaker for turn in there.values()} - {
        turn.local_speaker for turn in (*there.values(), *again, *new) if not turn.is_erased
    }
    changes = Changes(
        worded=[turn.message_id for turn in again if turn.text != there[turn.message_id].text],
        moved=moved,
        undecided=[turn.message_id for turn in again if turn.message_id in moved and not turn.is_corrected],
        withdrawn=withdrawn,
        labels={id: label for id, label in _labels(participants, labels, session_id).items() if id not in silent},
    )
    return Plan((*again, *new), len(new), changes)


def messages_of(turns: Sequence[TurnThere], provenance: str, embedder: TextEmbedder | None) -> list[NewMessage]:
    """With the embedding of each text. Heavy. Raises as `blame.embedded`."""
    texts = list(dict.fromkeys(turn.text for turn in turns if turn.text))
    vectors: dict[str | None, Samples] = {}
    if embedder is not None and texts:
        vectors.update(zip(texts, embedded(embedder, texts), strict=True))
    return [
        NewMessage(
            id=turn.message_id,
            local_speaker=turn.local_speaker,
            turn=_as_spoken(turn),
            said_at=turn.said_at,
            provenance=provenance,
            vectors={"turn": vectors[turn.text]} if turn.text in vectors else {},
            doubts=turn.doubts,
            only_told=True,
        )
        for turn in turns
    ]


def _as_spoken(turn: TurnThere) -> SpeakerTurn:
    return SpeakerTurn(
        index=turn.index,
        segment=Segment(turn.start, turn.end),
        track=turn.label,
        speech=(),
        overlapped=0.0,
        quality=None,
        channel=UNHEARD,
        text=turn.text,
        language=turn.language,
    )


def message_id(session_id: str, key: str) -> str:
    """Of the turn with this key: however often it is revised, and in whatever order it came."""
    return derived("message", session_id, key)


def local_speaker_id(session_id: str, track: str) -> str:
    return derived("local_speaker", session_id, track)


def reason(turn: TurnThere) -> str:
    """Why it is nobody's when it is written."""
    return BOT if BOT in turn.doubts else DOUBTED if DOUBTED in turn.doubts else NO_SOUND


def in_order(there: Mapping[str, TurnThere]) -> list[TurnThere]:
    """As they were said."""
    return sorted(there.values(), key=lambda turn: (turn.start, turn.end, turn.message_id))


def signed_in(participants: Mapping[str, Participant], session_id: str, until: float) -> list[SignedIn]:
    """All that came with a login; who is still there is so `until` now, seconds of the session. A voice told apart in the sound
    of a tile came with the tile's, and where there are several it is nobody's."""
    found = []
    for _, p in sorted(participants.items()):
        tile = participants.get(p.tile) if p.tile is not None else None
        accounts = (*p.accounts, *p.emails) or ((*tile.accounts, *tile.emails) if tile is not None else ())
        if accounts:
            signed = SignedIn(
                accounts=accounts,
                local_speaker=local_speaker_id(session_id, p.track),
                name=p.name or (tile.name if tile is not None else None),
                is_bot=p.is_bot or (tile is not None and tile.is_bot),
                several=p.several or (tile is not None and tile.several),
                attends=_attends(p, until),
            )
            found.append(signed)
    return found


def _attends(participant: Participant, until: float) -> tuple[Segment, ...]:
    if participant.here_since is None:
        return participant.attends
    return (*participant.attends, Segment(participant.here_since, max(participant.here_since, until)))


def _turn(turn: Turn, id: str, participant: Participant | None, session_id: str, started_at: datetime) -> TurnThere:
    return TurnThere(
        message_id=id,
        index=-1,
        local_speaker=local_speaker_id(session_id, turn.track),
        label=_label(participant) or f"unlabelled@{turn.segment.start:.2f}",
        text=turn.text,
        language=turn.language,
        start=turn.segment.start,
        end=turn.segment.end,
        said_at=started_at + timedelta(seconds=turn.segment.start),
        decision=None,
        speaker_id=None,
        doubts=_doubts(turn),
    )


def _doubts(turn: Turn) -> tuple[str, ...]:
    unsure = Doubt.MARKED in turn.doubts or turn.speaker_confidence == 0
    return (
        *((BOT,) if turn.by_bot else ()),
        *((Doubt.PARTIAL.value,) if not turn.is_final else ()),
        *((DOUBTED,) if unsure and not turn.by_bot else ()),
    )


def _label(participant: Participant | None) -> str | None:
    """As a transcript would have it; None: nobody said."""
    return None if participant is None else participant.name or participant.handle


def _content(turn: TurnThere) -> tuple[object, ...]:
    """All of a turn that its meeting tells."""
    return turn.text, turn.language, turn.start, turn.end, turn.said_at, turn.local_speaker, turn.doubts


def _labels(participants: Mapping[str, Participant], written: Mapping[str, str], session_id: str) -> dict[str, str]:
    """Of voices that are written under another name than is known by now."""
    wanted = {local_speaker_id(session_id, p.track): _label(p) for p in participants.values()}
    return {id: label for id, label in sorted(wanted.items()) if label and written.get(id, label) != label}
