"""People, what is known of their voices, what was decided about a turn, and who is asking."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from service.types.audio import EmbeddingSpace, Samples, SpeakerEmbedding


class Consent(StrEnum):
    """State of a person's consent to one purpose (here: keeping the voice)."""

    UNKNOWN = "unknown"
    GRANTED = "granted"
    WITHDRAWN = "withdrawn"
    OPTED_OUT = "opted_out"


class ConsentPurpose(StrEnum):
    """What somebody may agree to."""

    ATTRIBUTE = "attribute"
    """Whose a turn is, by its voice. Refused, they are a voice of each session and nobody's, and no voice of theirs is kept."""
    REMEMBER_VOICE = "remember_voice"
    """That they are known again in other sessions. Refused, a session in which they were known goes on by its own voices."""
    INFER_PERSONA = "infer_persona"
    """How they feel and what they are like, for themselves to see; off unless granted."""
    KEEP_AUDIO = "keep_audio"
    """How they sound (laughing, whispering), for whoever may read what they said, and the pieces of sound where the space keeps
    these, for themselves; off unless granted."""


class AnonymousVoices(StrEnum):
    """What a space does with the voices of people who were never asked."""

    EPHEMERAL = "ephemeral"
    """Diarise within the session only; no exemplar is kept."""
    EXPIRE = "expire"
    """Keep exemplars with an expiry (default)."""
    KEEP = "keep"


class OptOuts(StrEnum):
    """By what a space knows those again who refused to be known."""

    VOICE = "voice"
    """By a mark of their voice that is no voiceprint (service.identity.opt_outs), by their logins and their id (default)."""
    IDS = "ids"
    """By logins and id alone: nothing that was made of a voice is kept, and a voice that comes back is somebody new."""


class VoiceAccess(StrEnum):
    """What a voice may do when somebody asks."""

    NEVER = "never"
    NARROW = "narrow"
    """A voice only narrows what a token may see (default)."""
    OPEN = "open"
    """A voice alone opens what its person may see."""


SOUND_DAYS = 30
"""Days that sounds are kept unless a space says otherwise: as long as anonymous voices; by hand."""


class AccessPolicy(StrEnum):
    """Who may read a message; each includes the ones before it."""

    OWN = "own"
    ADDRESSED = "addressed"
    ATTENDED = "attended"
    SHARED = "shared"


@dataclass(frozen=True, slots=True)
class SpaceSettings:
    """The policies of one tenant, stored on its Space node."""

    id: str
    access: AccessPolicy = AccessPolicy.ATTENDED
    routing: str = "bounded"
    """A name of service.identity.policies.POLICIES."""
    voice_access: VoiceAccess = VoiceAccess.NARROW
    anonymous_voices: AnonymousVoices = AnonymousVoices.EXPIRE
    anonymous_days: int = 30
    """Days an anonymous voice is kept under `expire`; by hand."""
    workplace: bool = False
    """Nothing is inferred of how people feel or what they are like, whatever they agreed to (EU AI Act, art. 5(1)(f))."""
    keeps_sound: bool = False
    """Of who granted KEEP_AUDIO, pieces of sound are kept, and what embeds them; without it, only what is heard in them."""
    sound_days: int = SOUND_DAYS
    """Days that what is heard in somebody's sound is kept, and the pieces."""
    session_days: int | None = None
    """Days that a session is kept after it was held or written, whichever is later; None: until it is erased."""
    voice_days: int | None = None
    """Days that a voice is kept after it was last heard, of who agreed, and under `keep`; None: until they take it back, or it
    is erased."""
    opt_outs: OptOuts = OptOuts.VOICE
    identity_revision: int = 0
    """Counts every change to who is who; the ingest compares it when it writes."""


@dataclass(frozen=True, slots=True)
class Exemplar:
    """One accepted utterance of a person: evidence, with everything needed to take it back."""

    id: str
    vector: Samples
    """Shape (dimension,), L2-normalised, before any channel compensation."""
    net_speech: float
    snr_db: float
    channel: str
    message_id: str
    twin_of: str | None = None
    """Id of the exemplar whose sound this is, made narrow as a telephone makes it; None for a voice as it was heard."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class PersonVoice:
    """What the router knows of one person in one embedding space."""

    person_id: str
    space: EmbeddingSpace
    centroid: Samples
    """L2-normalised; for the default policy a pure function of `exemplars`."""
    exemplars: tuple[Exemplar, ...] = ()
    num_turns: int = 0
    net_speech: float = 0.0
    consent: Consent = Consent.UNKNOWN
    same_as: str | None = None
    """Whom this person is merged into, at the end of the chain; None for somebody who stands for themselves. Who shares it
    is one candidate, and a turn goes to the one of them whose own voice is nearest, so that undoing the merge is exact."""


@dataclass(frozen=True, slots=True)
class ChannelMean:
    """What all voices heard on one channel have in common: taken away before voices of different channels are compared."""

    channel: str
    vector: Samples
    """Shape (dimension,): mean over people of the mean of their unit vectors, shorter where they are few; shorter than 1."""
    num_utterances: int
    num_people: int
    version: int = 0


@dataclass(frozen=True, slots=True)
class TurnEvidence:
    """All that routing may look at: the voice and how good the sound is, never the transcript."""

    message_id: str
    track: str
    """Id of the LocalSpeaker."""
    start: float
    end: float
    net_speech: float
    overlapped: float
    snr_db: float
    channel: str
    embedding: SpeakerEmbedding | None
    """None when there is too little speech to embed."""
    narrow: SpeakerEmbedding | None = None
    """The same sound as a telephone would carry it, of a few turns: whoever is learnt from them is known when they call."""
    clipped: float = 0.0
    """Share of samples at full scale, [0, 1]."""
    before: str | None = None
    """Of a recording that is processed again: id of the person who was held to speak then."""


@dataclass(frozen=True, slots=True)
class Former:
    """Somebody who was held to speak in a recording that is processed again, with all that is theirs but the voice."""

    person_id: str
    num_turns: int
    """By now, with those of the recording that is to go."""
    net_speech: float
    consent: Consent
    same_as: str | None
    """As of PersonVoice."""


@dataclass(frozen=True, slots=True)
class Scores:
    """What a decision was based on; raw cosines in [-1, 1]; None without a candidate."""

    cosine: float | None
    runner_up: float | None
    threshold: float | None
    """None where there was no voice to compare."""
    policy: str
    encoder: str
    runner_up_id: str | None = None
    """Whose score `runner_up` is."""
    channels: str | None = None
    """What the threshold is for: a ChannelPair of service.identity.thresholds."""

    @property
    def margin(self) -> float | None:
        return None if self.cosine is None or self.runner_up is None else self.cosine - self.runner_up


@dataclass(frozen=True, slots=True)
class Link:
    """The turn is this known person's; `learned` says whether the voiceprint may take it as an exemplar."""

    message_id: str
    track: str
    person_id: str
    scores: Scores
    learned: bool


@dataclass(frozen=True, slots=True)
class Create:
    """The turn is a person whose voice was not met before; `person_id` is new and depends only on the message's id, unless the
    recording is processed again: then it is who was held to speak (TurnEvidence.before)."""

    message_id: str
    track: str
    person_id: str
    scores: Scores


@dataclass(frozen=True, slots=True)
class Assigned:
    """The turn is its local speaker's, whose person is decided; its own voice was not enough."""

    message_id: str
    track: str
    person_id: str
    scores: Scores
    reason: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Not decided; stays with its local speaker. Never creates a person."""

    message_id: str
    track: str
    scores: Scores
    reason: str
    """too_short | noisy | clipped | overlapped | between_thresholds | ambiguous | exclusive | contradicting | no_speech |
    no_sound | opted_out; of a live meeting also bot (a program's words) | doubted (by the platform itself)"""


Decision = Link | Create | Assigned | Unresolved


@dataclass(frozen=True, slots=True)
class MayBe:
    """For somebody to decide: `subject` (a person, or a local speaker) may be `person_id`; the rest as on the MAY_BE edge."""

    subject: str
    person_id: str
    cosine: float
    margin: float | None
    threshold: float
    num_turns: int
    why: str
    """alike | exclusive"""


class Assurance(StrEnum):
    """How sure we are who is asking."""

    NONE = "none"
    VOICE = "voice"
    TOKEN = "token"
    TOKEN_AND_VOICE = "token_and_voice"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who holds the token: an account, the person it is bound to, whom it may ask for, and what it may do."""

    account_id: str
    person_id: str | None = None
    may_act_for: frozenset[str] = frozenset()
    """By grants that hold (service/graph/grants.py): looked up when it asks for somebody else, never told by a token."""
    scopes: frozenset[str] = frozenset()
    """Of: ingest, ask, read_all, admin."""
    operator: bool = False
    """Whoever has the shell, and with it the database; no token makes one."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks and who hears the answer. `hearers` has one person id for everybody in earshot, the asker first."""

    space: str
    principal: Principal | None
    asker: str | None
    hearers: tuple[str, ...]
    unknown_hearer: bool
    """Somebody not recognised listens: only what is public may be said."""
    assurance: Assurance
    reads_all: bool = False
    """A principal with the scope read_all, asking for nobody and with nobody listening."""
    grants: tuple[str, ...] = ()
    """Ids of the grants by which the principal asks for the asker; none where it takes none."""


class VoiceOutcome(StrEnum):
    """What asking by voice came to; stricter than linking, and read-only."""

    ACCEPT = "accept"
    INCONCLUSIVE = "inconclusive"
    REJECT = "reject"
    NOT_ENROLLED = "not_enrolled"
    OPTED_OUT = "opted_out"


@dataclass(frozen=True, slots=True)
class VoiceVerdict:
    outcome: VoiceOutcome
    person_id: str | None
    """Only for `accept`."""
    scores: Scores
    reason: str


@dataclass(frozen=True, slots=True)
class Heard:
    """How much somebody said, of what a viewer may read."""

    num_turns: int = 0
    net_speech: float = 0.0
    """Seconds."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person as a viewer may see them."""

    id: str
    display_name: str | None
    aliases: tuple[str, ...]
    kind: str
    """anonymous | named | bot"""
    created_at: datetime
    encoders: tuple[str, ...] = field(default=())
    """Embedding spaces in which a voiceprint is kept."""
