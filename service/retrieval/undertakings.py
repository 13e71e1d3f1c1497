"""Does somebody take something upon themselves with these words? For "what did I promise?", which has no word of what it was.

English. Facts of the kind `commitment` say the same more surely, but are only of what can be read alone: "I'll do it by then"
is none, and a promise all the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from service.retrieval.ranking import Candidate
from service.types.memory import Message
from service.types.search import Found, Ranking, Tool

UNDERTAKES = "undertakes"
"""Among what speaks for a candidate: that it undertakes something."""

_NO_DEED = (
    "be|never|not|probably|maybe|have|see(?! to)|need|know|miss|love|like|hate|think|die|feel|lose|fail|want|forget|"
    "understand|regret|wait|hope|believe|guess|admit|remember"
)
_DEED = (
    "answer|arrange|ask|bake|bring|book|build|buy|call|carry|check|clean|collect|cook|cover|do|draw|drive|email|feed|fetch|find|"
    "fix|get|give|handle|help|host|lend|look|mail|make|mend|order|organi[sz]e|paint|pay|phone|pick|post|prepare|print|read|"
    "repair|ring|see to|send|share|show|sort|stay|swap|take|talk|teach|text|tidy|try|wait|walk|wash|water|write"
)
_WHEN = (
    "on|by|at|before|after|in|next|this|tomorrow|tonight|today|monday|tuesday|wednesday|thursday|friday|saturday|sunday|soon|"
    "instead|then"
)
_SURE = re.compile(
    r"\b(?:promise|i swear|i vow|my word|count on me|leave it (?:to|with) me|consider it done)\b"
    rf"|\b(?:i|we)(?:'ll| will| shall)(?: (?:also|just|even|gladly|happily|then|definitely|certainly))? (?!(?:{_NO_DEED})\b)\w+"
    r"|\bi (?:won't|will not|shan't) (?:tell|say|let|breathe)\b",
    re.IGNORECASE,
)
_OFFERED = re.compile(
    rf"\bi (?:can|could)(?: (?:also|always|easily|just|even))? (?:{_DEED})\b"
    r"|\blet me (?!know\b|guess\b|see\b|tell\b|think\b)\w+"
    rf"|\bi'm (?:also )?(?:going to|gonna) (?!{_NO_DEED})\w+|\bi'm (?:also )?\w+ing\b.*\b(?:{_WHEN})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class UndertakingsConfig:
    """Chosen on scenarios 1 to 3 of the spoken set (Recall@15 of personalisation 71 → 87); none of it is a close call."""

    kept_as_fact: float = 3.0  # a commitment that the extractor read; below it what only the words say
    sure: float = 2.0  # "I'll …", "I promise"
    offered: float = 1.0  # "I could …", "I'm fetching it on Thursday"
    in_particular: float = 0.9  # of the confidence that it was said to somebody: before what was said to all


DEFAULTS = UndertakingsConfig()


def undertakes(text: str, config: UndertakingsConfig = DEFAULTS) -> float:
    """How surely whoever says `text` undertakes something: 0, `offered` or `sure`."""
    said = text.replace("’", "'")
    if _SURE.search(said):
        return config.sure
    return config.offered if _OFFERED.search(said) and not said.rstrip().endswith("?") else 0.0


def undertaken(
    listed: Ranking,
    kept: Sequence[str],
    messages: Mapping[str, Message],
    addressees: Collection[str] = (),
    config: UndertakingsConfig = DEFAULTS,
) -> tuple[Candidate, ...]:
    """What was promised, for a question without words of what it was: `kept` as facts, or by its words among the `listed`; what
    was said to one of `addressees` in particular first, then the surest, then the newest. What undertakes nothing is behind
    it, in the order of `listed`."""
    facts, asked = frozenset(kept), frozenset(addressees)
    sure = {id: config.kept_as_fact if id in facts else undertakes(m.text or "", config) for id, m in messages.items()}

    def place(id: str) -> tuple[bool, float, float, str]:
        told = [to.confidence for to in messages[id].addressees if to.person_id in asked]
        aside = bool(asked) and max(told, default=0.0) < config.in_particular
        return aside, -sure[id], -messages[id].said_at.timestamp(), id

    promised = sorted((id for id, weight in sure.items() if weight), key=place)
    ids = list(dict.fromkeys((*promised, *(one.id for one in listed))))
    return tuple(
        Candidate(
            id,
            1 - rank / (2 * len(ids)),
            (Found(Tool.FACT_KIND if id in facts else Tool.PEOPLE, rank + 1, sure.get(id, 0.0)),),
            ((UNDERTAKES, sure[id]),) if sure.get(id) else (),
        )
        for rank, id in enumerate(ids)
    )
