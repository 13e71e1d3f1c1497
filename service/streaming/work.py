"""What can be asked for while somebody speaks, and what comes back? Actions of the machine, and the events that answer them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from service.streaming.words import same_words


class Stage(StrEnum):
    """VoiceMem, §3.3."""

    LISTENING = "listening"
    """Somebody speaks, or nobody did since the last memory."""
    SPEECH_TAIL = "speech_tail"
    ANTICIPATION = "anticipation"
    SEARCHING = "searching"


@dataclass(frozen=True, slots=True)
class Eyes:
    """Whose eyes a search sees with."""

    asker: str | None
    """Id of the person asked for."""
    scope: str
    """Names all that they and whoever else listens may see; another value where that changed."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What is looked for, by whom."""

    utterance: int
    text: str
    eyes: Eyes

    def serves(self, other: Ask) -> bool:
        """What was found for this is what would be found for `other`: the same words, seen with the same eyes. Words added
        or heard otherwise since then are other words."""
        return self.utterance == other.utterance and self.eyes == other.eyes and same_words(self.text, other.text)


# ---- what is to be done


@dataclass(frozen=True, slots=True)
class Enter:
    stage: Stage


@dataclass(frozen=True, slots=True)
class Transcribe:
    """All of the utterance up to `through`; `whole`: speech has stopped."""

    utterance: int
    begin: float
    through: float
    whole: bool


@dataclass(frozen=True, slots=True)
class Identify:
    """Whose eyes the utterance's voice, and whoever is named as listening, leave."""

    utterance: int
    begin: float
    through: float
    whole: bool


@dataclass(frozen=True, slots=True)
class Match:
    """Whom and what the words so far speak of, while they are being said."""

    ask: Ask


@dataclass(frozen=True, slots=True)
class Look:
    """Find what may answer; nothing of it is told yet."""

    ask: Ask


@dataclass(frozen=True, slots=True)
class Read:
    """Read what was found for `ask`, with the eyes as they are now, to be told."""

    ask: Ask


@dataclass(frozen=True, slots=True)
class Deliver:
    """What was read for `ask` may be told: nobody spoke meanwhile."""

    ask: Ask


@dataclass(frozen=True, slots=True)
class Refuse:
    """Who speaks may see nothing; why is told."""

    utterance: int


Action: TypeAlias = Enter | Transcribe | Identify | Match | Look | Read | Deliver | Refuse

# ---- what comes in


@dataclass(frozen=True, slots=True)
class Sound:
    """The stream up to `until`; whether anybody spoke since the last one."""

    until: float
    speaking: bool


@dataclass(frozen=True, slots=True)
class Transcribed:
    work: Transcribe
    text: str


@dataclass(frozen=True, slots=True)
class Identified:
    work: Identify
    eyes: Eyes | None
    """None: refused."""


@dataclass(frozen=True, slots=True)
class Matched:
    work: Match


@dataclass(frozen=True, slots=True)
class Looked:
    work: Look


@dataclass(frozen=True, slots=True)
class HasRead:
    work: Read
    eyes: Eyes | None
    """As they were when it was read. Others than those it was looked for with: nothing was read."""


@dataclass(frozen=True, slots=True)
class PutOff:
    """It was not done: others wait for answers, and this is only shown meanwhile. Of work that is `whole` it never comes."""

    work: Transcribe | Identify | Match


@dataclass(frozen=True, slots=True)
class Stale:
    """It was not begun, for when its turn came something else was asked, or speech went on."""

    work: Look


Event: TypeAlias = Sound | Transcribed | Identified | Matched | Looked | HasRead | PutOff | Stale
