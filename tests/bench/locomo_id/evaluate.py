"""How well does a policy tell who spoke, in a collection? By the product's own step, settle, merges and verify."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from service.identity.ask import AskConfig, verify
from service.identity.channels import channel_means
from service.identity.merging import Joined, MergeConfig, SessionEvidence, confirmations, merges, overlaid
from service.identity.metrics import b_cubed_items, routing_counts
from service.identity.router import NO_TRACK, FoldState, RouterConfig, paper_config, settle, step
from service.identity.thresholds import Thresholds
from service.pipelines.twins import TwinsConfig
from service.types.audio import EmbeddingSpace, Samples, SpeakerEmbedding
from service.types.ids import derived
from service.types.people import ChannelMean, Create, Decision, PersonVoice, TurnEvidence, Unresolved, VoiceVerdict
from tests.bench.locomo_id.collections import CLEAN, Collection, Query, Session, Turn
from tests.bench.locomo_id.shifts import SNR_DB
from tests.bench.locomo_id.voices import Utterance

OURS = "ours"
PAPER_POLICIES = ("fixed", "update", "gated", "knn")


class Voices(Protocol):
    """Embeddings of utterances: Bank, and in tests voices whose cosines are chosen."""

    @property
    def space(self) -> EmbeddingSpace: ...

    def embedding(self, utterance: Utterance, shift: str = CLEAN) -> Samples:
        """Shape (dimension,), length 1."""
        ...

    def channel(self, utterance: Utterance, shift: str = CLEAN) -> str: ...

    def twin(self, utterance: Utterance, shift: str = CLEAN) -> Samples | None:
        """As a telephone would carry it; None of what came over one."""
        ...


@dataclass(frozen=True, slots=True)
class System:
    """What routes, merges and lets in."""

    name: str
    routing: RouterConfig
    asking: AskConfig
    merging: MergeConfig | None = None
    """After each session; None: never, and no channel means either."""
    tracks: bool = False
    """Turns come with the right local speaker, as from a platform; else each by its own voice, as in the paper."""


def ours(thresholds: Thresholds, *, tracks: bool = False) -> System:
    """The default of the service, in a space where a voice alone opens what is its own (`voice_access: open`)."""
    return System(
        f"{OURS}_with_tracks" if tracks else OURS,
        RouterConfig(thresholds=thresholds),
        AskConfig(thresholds=thresholds),
        MergeConfig(thresholds=thresholds, confirm=True),
        tracks,
    )


def paper(policy: str, thresholds: Thresholds, name: str | None = None) -> System:
    """EvoSpeakerMem's: one threshold links and lets in, whatever the turn."""
    asking = AskConfig(policy, thresholds, min_speech=0.0, margin=0.0)
    return System(name or policy, paper_config(policy, thresholds), asking)


@dataclass(frozen=True, slots=True)
class Heard:
    """A collection after its last session."""

    collection: Collection
    decisions: tuple[Decision, ...]
    """One a turn, in order, as it stood when its session was closed."""
    order: tuple[int, ...]
    """Turns in the order in which they were decided: those left to a session's end behind the others, made people first."""
    people: Mapping[str, PersonVoice]
    """With `same_as` where merged."""
    channels: Mapping[str, ChannelMean]
    confirmed: Mapping[str, str]
    """Merges that widen what may be read: from → into."""

    def root(self, person_id: str) -> str:
        """Whom the person is merged into, confirmed or not, if anybody."""
        voice = self.people.get(person_id)
        return (voice.same_as if voice else None) or person_id

    def identity(self, person_id: str) -> str:
        """Whose memory the person reads: the end of the confirmed merges."""
        return _end(self.confirmed, person_id)

    def speakers(self) -> list[str | None]:
        """Of each turn the person it was put down to; None: unresolved."""
        return [None if isinstance(d, Unresolved) else d.person_id for d in self.decisions]

    def owners(self) -> dict[str, str]:
        """Person → the voice whose turn made them: a person's id follows from that turn's."""
        made = {derived("person", turn.id): turn.voice for turn in self.collection.turns}
        return {p: made[p] for p in self.speakers() if p is not None}


def _end(confirmed: Mapping[str, str], person_id: str) -> str:
    while person_id in confirmed:
        person_id = confirmed[person_id]
    return person_id


def hear(collection: Collection, system: System, voices: Voices) -> Heard:
    """Fold all sessions in order, as an ingest does: step, settle, merge, channel means."""
    people: dict[str, PersonVoice] = {}
    channels: dict[str, ChannelMean] = {}
    confirmed: dict[str, str] = {}
    sessions: dict[str, str] = {}
    joined: list[Joined] = []
    decisions: list[Decision] = []
    order: list[int] = []
    for session in collection.sessions:
        evidence = [turn_evidence(turn, session, system, voices) for turn in session.turns]
        state, stepped = step(FoldState().with_gallery(people, channels=channels), evidence, system.routing)
        state, settled = settle(state, system.routing)
        final = {d.message_id: d for d in (*stepped, *settled)}
        order += [len(decisions) + i for i in _decided(session, stepped, final)]
        decisions += [final[turn.id] for turn in session.turns]
        people = dict(state.gallery)
        sessions |= {turn.id: session.id for turn in session.turns}
        if system.merging is not None:
            told = SessionEvidence.of(state)
            made = merges(people, told, config=system.merging, channels=channels).merges
            joined += [(m.person_id, m.into) for m in made]
            ends = {p: _end(confirmed, p) for p in confirmed}
            confirmed |= confirmations(
                people, told, joined, config=system.merging, sessions=sessions, confirmed_as=ends, channels=channels
            )
            joined = [(person, into) for person, into in joined if person not in confirmed]
            people = overlaid(people, made)
            channels = channel_means({p: v.exemplars for p, v in people.items()})
    return Heard(collection, tuple(decisions), tuple(order), people, channels, confirmed)


def _decided(session: Session, stepped: Iterable[Decision], final: Mapping[str, Decision]) -> list[int]:
    """Positions of the session's turns in the order of their decisions."""
    at_once = {d.message_id for d in stepped if not isinstance(d, Unresolved)}

    def when(i: int) -> tuple[bool, bool, int]:
        turn = session.turns[i].id
        return turn not in at_once, turn not in at_once and not isinstance(final[turn], Create), i

    return sorted(range(len(session.turns)), key=when)


def turn_evidence(turn: Turn, session: Session, system: System, voices: Voices) -> TurnEvidence:
    """What routing sees of a turn; clips are trimmed, so all of one is speech."""
    track = f"{session.id}/{turn.voice}" if system.tracks else NO_TRACK
    embedding = SpeakerEmbedding(voices.embedding(turn.utterance, turn.shift), voices.space)
    channel, seconds = voices.channel(turn.utterance, turn.shift), turn.utterance.seconds
    narrow = None
    if system.merging is not None and seconds >= TwinsConfig().min_speech:
        twin = voices.twin(turn.utterance, turn.shift)
        narrow = None if twin is None else SpeakerEmbedding(twin, voices.space)
    return TurnEvidence(turn.id, track, turn.start, turn.end, seconds, 0.0, SNR_DB[turn.shift], channel, embedding, narrow)


def ask(heard: Heard, query: Query, system: System, voices: Voices) -> VoiceVerdict:
    """Who is taken to be asking."""
    return verify(
        SpeakerEmbedding(voices.embedding(query.utterance, query.shift), voices.space),
        query.utterance.seconds,
        heard.people,
        system.asking,
        channel=voices.channel(query.utterance, query.shift),
        channels=heard.channels,
    )


def routing_tally(heard: Heard, group: Callable[[str], str]) -> dict[str, Counter[str]]:
    """By group of voices: routing_counts, with `turns` and the sums of B³ (`b3_precision`, `b3_recall`) over them. People who
    were merged count as one; all groups share the clusters."""
    gold = [turn.voice for turn in heard.collection.turns]
    roots = [person and heard.root(person) for person in heard.speakers()]
    precision, recall = b_cubed_items(roots, gold)
    members: dict[str, list[int]] = {}
    for i in heard.order:
        members.setdefault(group(gold[i]), []).append(i)
    tallies = {}
    for name, chosen in members.items():
        decisions = [_put_down_to(heard.decisions[i], roots[i]) for i in chosen]
        tally = routing_counts(decisions, [gold[i] for i in chosen])
        tally.update(turns=len(chosen), b3_precision=precision[chosen].sum(), b3_recall=recall[chosen].sum())
        tallies[name] = tally
    return tallies


def _put_down_to(decision: Decision, person_id: str | None) -> Decision:
    return decision if isinstance(decision, Unresolved) or person_id is None else replace(decision, person_id=person_id)
