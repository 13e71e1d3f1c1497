"""How does a person become known by name and voice? By a clip and their consent, recorded in the same transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from service.audio.diarise import Diariser, DiariserConfig
from service.audio.segmentation import Segmenter
from service.errors import VoicegraphError
from service.graph.driver import Graph
from service.graph.spaces import ensure_space
from service.graph.write_consents import Enrolment, save_enrolment
from service.graph.write_people import PersonWrite, VoiceWrite, add_alias, name_person
from service.identity.ask import AskConfig, verify
from service.identity.gallery import root
from service.identity.opt_outs import Refusals
from service.identity.policies import Bounded, policy, unit
from service.identity.thresholds import TELEPHONE
from service.pipelines.clip import main_voice
from service.pipelines.gallery import Candidates, GalleryReader
from service.pipelines.twins import twins
from service.types.audio import SpeakerEmbedding, SpeakerEncoder, SpeakerTurn, Waveform
from service.types.ids import derived, fresh
from service.types.people import Consent, Exemplar, PersonVoice, SpaceSettings, VoiceOutcome
from service.types.plain import short


@dataclass(frozen=True, slots=True)
class EnrolConfig:
    min_speech: float = 3.0  # seconds of net speech: below, 3 % of enrolments fail to match
    min_turn: float = 2.0  # seconds; what the router asks of an exemplar too
    max_exemplars: int = 12  # the most the default policy keeps
    max_clipped: float = 0.03  # share of samples at full scale; what the router asks, too (Floors.clipped)


class TooLittleSpeech(VoicegraphError):
    code = "too_little_speech"
    says = "The clip has {speech:.1f} s of one voice alone; enrolment needs {needed:.1f} s. Record longer, in quiet."
    http_status = 422


class TooClipped(VoicegraphError):
    code = "too_clipped"
    says = (
        "{clipped:.0%} of the clip's speech is at full scale; enrolment takes {most:.0%}. Turn the gain down, and record again."
    )
    http_status = 422


class VoiceOptedOut(VoicegraphError):
    code = "voice_opted_out"
    says = (
        "This voice is taken for that of somebody who asked not to be known here, which is wrong for one voice in fifty. If "
        "they never did, or changed their mind, an administrator can enrol them all the same (`--although-opted-out`)."
    )
    http_status = 409


class PersonOptedOut(VoicegraphError):
    code = "person_opted_out"
    says = (
        "{person_id}, or somebody merged with them, asked not to be known by voice. If they changed their mind, an "
        "administrator can enrol them all the same (`--although-opted-out`)."
    )
    http_status = 409


class VoiceKnown(VoicegraphError):
    code = "voice_known"
    says = "This voice is somebody's who is enrolled already ({person_id}). Rename that person: `voicegraph people name`."
    http_status = 409


Heard = tuple[SpeakerTurn, SpeakerEmbedding]
Twins = Mapping[int, SpeakerEmbedding]
"""Index of a turn → its embedding as a telephone would carry it."""


@dataclass(frozen=True, slots=True)
class Agreed:
    """What the person agreed to: the version of the text, and how they said so ("clip", "form", …)."""

    text_version: str
    channel: str
    at: datetime
    evidence: str | None = None
    recorded_by: str | None = None


class Enrol:
    """One a process, with the models of the ingest."""

    def __init__(
        self,
        graph: Graph,
        segmenter: Segmenter,
        encoder: SpeakerEncoder,
        gallery: GalleryReader,
        *,
        ask: AskConfig,
        diariser: DiariserConfig | None = None,
        config: EnrolConfig | None = None,
    ) -> None:
        self._graph, self._encoder, self._gallery, self._ask = graph, encoder, gallery, ask
        self._diarise = Diariser(segmenter, encoder, diariser or DiariserConfig())
        self._config = config or EnrolConfig()

    async def __call__(
        self,
        *,
        space: str,
        name: str,
        waveform: Waveform,
        text_version: str,
        channel: str,
        person_id: str | None = None,
        at: datetime | None = None,
        evidence: str | None = None,
        recorded_by: str | None = None,
        although_opted_out: bool = False,
    ) -> str:
        """Id of the person: `person_id`; else an anonymous one who is surely this voice; else a new one. `although_opted_out`:
        also somebody who refused, and a voice that is taken for theirs.

        Raises NobodySpeaks, SeveralVoices, TooLittleSpeech, TooClipped, VoiceKnown, VoiceOptedOut, PersonOptedOut,
        InvalidInput, NotFound."""
        name = short("the name", name)
        agreed = Agreed(text_version, channel, at or datetime.now(UTC), evidence, recorded_by)
        voice = await asyncio.to_thread(self._voice, waveform)
        narrowed = await asyncio.to_thread(self._twins, waveform, voice)
        settings = await self._graph.write(ensure_space, SpaceSettings(space))
        new_id = fresh()
        while True:
            enrolment = await self._enrolment(settings, name, voice, narrowed, person_id, new_id, agreed, although_opted_out)
            if await self._graph.write(save_enrolment, enrolment) is None:
                return enrolment.person.id

    async def _enrolment(
        self,
        settings: SpaceSettings,
        name: str,
        heard: Sequence[Heard],
        twins: Twins,
        person_id: str | None,
        new_id: str,
        agreed: Agreed,
        although_opted_out: bool,
    ) -> Enrolment:
        """Rests on the gallery's revision, which is compared in the transaction that writes: whoever opts out meanwhile has."""
        near = [person_id] if person_id else []
        known = await self._gallery(settings.id, [embedding.vector for _, embedding in heard], near=near)
        if not although_opted_out and _refused(heard, known.refusals):
            raise VoiceOptedOut()
        target = person_id or self._known_already(heard, known, settings) or new_id
        if not although_opted_out and target in known.refusals.voices:
            raise PersonOptedOut(person_id=target)
        before = known.voices.get(target)
        after = _learnt(before, target, heard, twins, settings.routing)
        had = {e.id for e in before.exemplars} if before else set()
        has = {e.id for e in after.exemplars}
        added = tuple(e for e in after.exemplars if e.id not in had)
        return Enrolment(
            settings.id,
            known.revision,
            name,
            PersonWrite(target, after.num_turns, after.net_speech),
            VoiceWrite(after, added, tuple(sorted(had - has))),
            agreed.text_version,
            agreed.channel,
            agreed.at,
            agreed.evidence,
            agreed.recorded_by,
        )

    def _known_already(self, heard: Sequence[Heard], known: Candidates, settings: SpaceSettings) -> str | None:
        """Somebody never asked so far who is surely this voice: enrolled, they are that person. Raises VoiceKnown."""
        net_speech = sum(turn.net_speech for turn, _ in heard)
        ask = replace(self._ask, policy=settings.routing)
        verdict = verify(
            [e for _, e in heard],
            net_speech,
            known.voices,
            ask,
            channel=heard[0][0].channel,
            population=known.population,
            channels=known.channels,
        )
        if verdict.outcome is not VoiceOutcome.ACCEPT or verdict.person_id is None:
            return None
        same = root(known.voices[verdict.person_id])
        enrolled = [p for p, v in sorted(known.voices.items()) if v.consent is Consent.GRANTED and root(v) == same]
        if enrolled:  # perhaps by another voice of theirs, which this one is merged with
            raise VoiceKnown(person_id=enrolled[0])
        return verdict.person_id

    def _voice(self, waveform: Waveform) -> list[Heard]:
        """The turns of the clip's one voice that are long enough to be kept, longest first."""
        voice = main_voice(self._diarise, waveform)
        if voice.net_speech < self._config.min_speech:
            raise TooLittleSpeech(speech=voice.net_speech, needed=self._config.min_speech)
        kept = [(t, e) for t, e in voice.embedded if t.net_speech >= self._config.min_turn]
        if not kept:
            longest = max(turn.net_speech for turn in voice.turns)
            raise TooLittleSpeech(speech=longest, needed=self._config.min_turn)
        whole = [(t, e) for t, e in kept if t.quality is not None and t.quality.clipped <= self._config.max_clipped]
        if not whole:
            least = min(turn.quality.clipped for turn, _ in kept if turn.quality is not None)
            raise TooClipped(clipped=least, most=self._config.max_clipped)
        return sorted(whole, key=lambda heard: -heard[0].net_speech)[: self._config.max_exemplars]

    def _twins(self, waveform: Waveform, heard: Sequence[Heard]) -> Twins:
        """Of the longest turns that were not heard over a telephone."""
        wideband = [turn for turn, _ in heard if turn.channel != TELEPHONE][: Bounded().max_twins]
        return twins(self._encoder, [(turn, waveform) for turn in wideband])


def _refused(heard: Sequence[Heard], refusals: Refusals) -> bool:
    """By the whole clip: its turns are one voice's."""
    embeddings = [embedding for _, embedding in heard]
    space, channel = embeddings[0].space, heard[0][0].channel
    vector = unit(np.sum([e.vector for e in embeddings], axis=0), dimension=space.dimension, what="the clip")
    return refusals.marks.matches(vector, channel, space)


def _learnt(before: PersonVoice | None, person_id: str, heard: Sequence[Heard], twins: Twins, routing: str) -> PersonVoice:
    """The voice with the clip's turns learnt, as the space's policy learns; twins by the policy that tells channels apart."""
    first = heard[0][1]
    voice = before or PersonVoice(person_id, first.space, first.vector)
    known = {exemplar.id for exemplar in voice.exemplars}
    learning = policy(routing)
    for turn, embedding in heard:
        exemplar = _exemplar(person_id, turn, embedding)
        if exemplar.id in known:
            continue
        voice = learning.learn(voice, exemplar)
        voice = replace(voice, num_turns=voice.num_turns + 1, net_speech=voice.net_speech + turn.net_speech)
        if isinstance(learning, Bounded) and (twin := twins.get(turn.index)) is not None:
            voice = learning.twin(voice, exemplar, twin.vector)
    return replace(voice, consent=Consent.GRANTED)


def _exemplar(person_id: str, turn: SpeakerTurn, embedding: SpeakerEmbedding) -> Exemplar:
    """Its id follows from the sound: the same clip given twice adds nothing."""
    assert turn.quality is not None, "it was heard"
    source = derived("enrolment", person_id, embedding.vector.tobytes().hex())
    return Exemplar(
        derived("exemplar", source, embedding.space.name),
        embedding.vector,
        turn.net_speech,
        turn.quality.snr_db,
        turn.channel,
        source,
    )


async def rename(graph: Graph, *, space: str, person_id: str, name: str, actor: str) -> None:
    """`actor`: account or person that gives the name. Raises NotFound, InvalidInput."""
    await graph.write(name_person, space, person_id, short("the name", name), by=actor)


async def name_also(graph: Graph, *, space: str, person_id: str, alias: str) -> None:
    """Raises NotFound, InvalidInput."""
    await graph.write(add_alias, space, person_id, short("the alias", alias))
