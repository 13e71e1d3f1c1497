"""What does a turn say, sentence by sentence, once greetings, fillers and the names called out are gone?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Lead(StrEnum):
    """How an answer begins."""

    YES = "yes"
    NO = "no"
    NONE = ""


@dataclass(frozen=True, slots=True)
class Utterance:
    text: str
    """Without what leads it in and out; empty when that was all ("Yes, definitely.")."""
    lead: Lead
    asks: bool
    hedged: bool = False
    first: bool = True
    """The first of its turn: what may answer the turn before."""


_NOISE = re.compile(
    r"[\[{(<*]\s*(?:laugh|chuckl|giggl|sigh|cough|sniff|paus|inaudibl|unclear|music|applau|nois|silen|crosstalk|clears?\s+throat|whisper|"
    r"gasp|groan|hum|cheer|shout|unintelligibl|indistinct)[\w\s]*[\]})>*]",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"(?<=[.!?…])[\"”']?\s+(?=\S)|\n+")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:mr|mrs|ms|dr|st|prof|vs|e\.g|i\.e|approx|[a-z])\.$", re.IGNORECASE)
_SMALL_I = re.compile(r"(?<![\w'’.])i(?=['’](?:m|ve|ll|d)\b|\s|$|[,.?!])")
_FILLERS = re.compile(
    r"(?:(?<=^)|(?<=[\s,]))(?:u+m+|u+h+|er+m*|h+m+|mm+|like|you\s+know|i\s+mean|sort\s+of|kind\s+of)(?:,|\.\.\.|…)\s*",
    re.IGNORECASE,
)

_NO_NAME = frozenset(
    """today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday sunday january february march
    april may june july august september october november december christmas easter however still first finally
    later maybe usually once here there instead sometimes recently luckily unfortunately meanwhile otherwise
    also besides then now yes no god i it the a my your we this that what when where who why how if""".split()  # noqa: SIM905
)
_TIMES = "|".join(word.capitalize() + r"\b" for word in sorted(_NO_NAME))

_YES = (
    r"yes|yeah|yep|yup|sure(?:\s+thing)?|of\s+course|definitely|absolutely|certainly|exactly|totally|will\s+do|no\s+problem|"
    r"gladly|with\s+pleasure"
)
_NO = r"no|nope|nah|not\s+really|not\s+at\s+all|not\s+yet|never|i\s+don't|i'm\s+not|i\s+can't"
_OPENERS = (
    r"hi|hello|hey|good\s+(?:morning|afternoon|evening)|morning|oh(?:\s+(?:no|yes|right|really|well|dear))?|ah|aw+|wow|ok|okay|well|"
    r"right|alright|all\s+right|so|and|but|or|also|then|now|anyway|anyways|actually|honestly|basically|seriously|really|look|listen|"
    r"great|good|nice|cool|perfect|excellent|brilliant|lovely|fine|amazing|awesome|thanks(?:\s+(?:a\s+lot|so\s+much))?|thank\s+you|"
    r"sorry|please|by\s+the\s+way|to\s+be\s+honest|in\s+fact|of\s+course|u+m+|u+h+|er+m*|h+m+|mm+|mhm|uh-huh|ha(?:\s*ha)*|haha|lol|"
    r"btw|yay|ugh|ouch|oops|congrats|no\s+way|i\s+see|i\s+know|i\s+mean|you\s+know|you\s+see|guess\s+what|come\s+on|"
    r"what|why|really|no\s+worries|same\s+here|me\s+too|sounds\s+good|good\s+idea|good\s+point|fair\s+enough|i\s+think\s+so|noted|"
    r"hooray|phew|well\s+done|even\s+better|true|agreed|indeed|right"
)
_CALLED = (
    r"(?:my\s+)?(?:dear|love|darling|honey|sweetheart|friend)|mate|guys|folks|everyone|everybody|all|team|mum|mom|dad|grandma|grandpa|"
    r"granny|dude|man|buddy|sir|madam|there|again"
)
_YES_BARE = re.compile(r"^(?:of\s+course|sure|yes|yeah)\s+(?=(?:i|you|we|he|she|they|it)\b)", re.IGNORECASE)
_LEAD = re.compile(
    rf"^(?:(?P<yes>{_YES})|(?P<no>{_NO})|(?:{_OPENERS}))(?:\s+(?:{_CALLED}|(?-i:(?!{_TIMES})[A-Z][\w'’-]+)))?"
    r"(?:\s*[,.!?…;:–-]+\s*|\s*$)",
    re.IGNORECASE,
)
_BARE_LEAD = re.compile(
    r"^(?:oh|ah|um+|uh+|well|so|and|but|okay|ok|yeah|yep|anyway|actually|honestly|hey|then|because|plus)\s+(?=[a-z'’]+\b)",
    re.IGNORECASE,
)
_CALLED_FIRST = re.compile(
    rf"^(?:(?:{_CALLED})|(?P<name>[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)?)),\s+"
    r"(?=(?:i|you|we|can|could|will|would|do|does|did|have|has|are|is|was|were|what|when|where|who|why|how|which|please|should|"
    r"let|don't|your|my)\b)"
)
_CALLED_LAST = re.compile(rf",\s+(?:(?:{_CALLED})|(?P<name>[A-Z][\w'’-]+))(?=[.!?]*$)")
_TAG = re.compile(
    r",\s*(?:(?:is|are|was|were|do|does|did|have|has|had|can|could|will|would|should)(?:n['’]t)?\s+(?:i|you|he|she|it|we|they)"
    r"(?:\s+(?:know(?:\s+that)?|tell\s+you|not|say|mention\s+(?:it|that)))?|right|alright|all\s+right|will\s+you|would\s+you|remember|okay|ok|huh|no|yeah|you\s+know)\?$",
    re.IGNORECASE,
)
_TRAIL = re.compile(
    r",?\s+(?:by\s+the\s+way|btw|though|actually|honestly|anyway|you\s+know|of\s+course|to\s+be\s+honest|lol|haha|please|"
    r"i\s+promise|believe\s+me|trust\s+me|as\s+well|too)(?=[.!?]*$)",
    re.IGNORECASE,
)
_KEPT_TRAIL = frozenset({"too", "as well"})
_HEDGE = re.compile(
    r",?\s+(?:i\s+(?:think|guess|suppose|believe|reckon)|maybe|probably|or\s+something)(?=[.!?]*$)", re.IGNORECASE
)


def utterances(text: str) -> list[Utterance]:
    """In order. A bare answer or interjection is one without text, where it answers yes or no; else it is left out."""
    found: list[Utterance] = []
    for sentence in sentences(text):
        lead, rest = _led(_FILLERS.sub("", sentence))
        rest = _uncalled(rest)
        tag = _TAG.search(rest)
        if tag is not None:
            rest = rest[: tag.start()] + "."
        rest, hedged = _trailed(rest)
        if _SMALL_I.search(rest):
            rest = _SMALL_I.sub("I", rest)
        if not re.search(r"\w", rest):
            rest = ""
        if rest or lead:
            found.append(Utterance(rest, lead, rest.endswith("?"), hedged, first=not found))
    return found


def sentences(text: str) -> list[str]:
    parts: list[str] = []
    for part in _SPLIT.split(_NOISE.sub(" ", text)):
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] += " " + part.strip()
        elif part.strip():
            parts.append(part.strip())
    return parts


def _led(text: str) -> tuple[Lead, str]:
    lead = Lead.NONE
    while (match := _LEAD.match(text)) is not None and match.end():
        lead = lead or (Lead.YES if match["yes"] else Lead.NO if match["no"] else Lead.NONE)
        text = text[match.end() :]
    if (match := _YES_BARE.match(text)) is not None:
        lead, text = lead or Lead.YES, text[match.end() :]
    while (match := _BARE_LEAD.match(text)) is not None:
        text = text[match.end() :]
    return lead, text[:1].upper() + text[1:]


def _uncalled(text: str) -> str:
    first = _CALLED_FIRST.match(text)
    if first is not None and (first["name"] or "").lower() not in _NO_NAME:
        text = text[first.end() :]
        text = text[:1].upper() + text[1:]
    last = _CALLED_LAST.search(text)
    if last is not None and (last["name"] or "").lower() not in _NO_NAME and text[: last.start()].count(" ") > 0:
        text = text[: last.start()] + text[last.end() :]
    return text


def _trailed(text: str) -> tuple[str, bool]:
    hedged = False
    while True:
        if (match := _HEDGE.search(text)) is not None:
            hedged = True
        elif (match := _TRAIL.search(text)) is None or match[0].strip(", ").lower() in _KEPT_TRAIL:
            return text, hedged
        text = text[: match.start()] + text[match.end() :]
