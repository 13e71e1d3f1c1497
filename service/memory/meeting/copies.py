"""Which of the things said are one thing said, told twice? The same words at the same time: echo on another track, a second
bot's, the copy made after the call. The better attributed one is kept, whatever order they came in.

Short words are no evidence: two people say "yes" at once, and one says it twice in a second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

CHAT = "chat"
"""A source whose lines are written, not spoken."""
PLATFORM = "platform"
"""A source that hears each participant's own stream."""
# fmt: off
NEGATIONS = frozenset(
    {
        "no", "not", "never", "nobody", "nothing", "none", "cannot", "dont", "cant", "wont", "isnt", "arent", "wasnt",
        "werent", "doesnt", "didnt", "hasnt", "havent", "couldnt", "wouldnt", "shouldnt", "nein", "nicht", "nie",
        "kein", "keine", "non", "pas", "jamais",
    }
)
# fmt: on
"""In the languages that are met most, as `words_of` has them."""


@dataclass(frozen=True, slots=True)
class CopiesConfig:
    """By hand; checked by the cases of tests/unit/memory/meeting/test_copies.py."""

    apart: float = 1.5  # seconds between the two starts: two clocks, and the way an echo has through a network
    overlap: float = 0.5  # of the shorter, in which both go on
    words: int = 4  # from which the same words under two labels are no coincidence
    own: int = 8  # … and from which, all the same, two participants did not say them at once on streams of their own
    same: float = 0.8  # of the shorter's words that are the longer's, in order: two recognisers hear one voice
    inside: float = 0.9  # … where the longer says more: in a long line, a few words in a row stand by chance
    more: float = 1.5  # times the shorter's length, from which the longer says more
    loose: float = 1.25  # times the shorter's length within which they stand in the longer
    crowd: int = 256  # things said within a few seconds among which copies are looked for: of those beyond it no more is known
    most: int = 64  # things said around one time that are compared; more are no conversation


@dataclass(frozen=True, slots=True)
class Line:
    """What decides it, of one utterance."""

    uid: str
    text: str
    start: float
    end: float
    track: str | None
    parent: str | None
    """Track of the tile that it was found in."""
    source: str
    timed: bool
    """Its words have times."""
    rank: tuple[float, ...]
    """The higher, the better attributed."""
    name: str | None = None
    """Of its speaker, as shown."""
    is_named_only: bool = False
    """Its speaker has no id."""
    by_bot: bool = False
    told_by: str = ""
    """Which of several bots tells it."""


SOURCES = {"platform": 3.0, "caption": 2.0, "diariser": 1.0}


def rank(
    *,
    final: bool,
    by_bot: bool,
    known: bool,
    by_id: bool,
    source: str,
    earned: bool,
    confidence: float | None,
    words: int,
    start: float,
) -> tuple[float, ...]:
    """A bot's words are its own, whoever's microphone brings them back; an echo comes later and less clearly."""
    return (final, by_bot, known, SOURCES.get(source, 0.0), by_id, earned, confidence or 0.0, words, -start)


def are_copies(one: Line, other: Line, config: CopiesConfig) -> bool:
    """The same for both orders."""
    if CHAT in (one.source, other.source):
        same = one.source == other.source and one.track == other.track and words_of(one.text) == words_of(other.text)
        return same and abs(one.start - other.start) <= config.apart
    short, long = sorted((words_of(one.text), words_of(other.text)), key=len)
    enough = len(short) >= config.words
    if not short or not _same_time(one, other, enough, config) or not (enough or _may_be_one(one, other)):
        return False
    if _are_two(one, other) and (_tell_apart(short) != _tell_apart(long) or not _may_be_echo(one, other, short, long, config)):
        return False
    return _contains(long, short, config)


def _are_two(one: Line, other: Line) -> bool:
    """Whether two participants say it, as far as is known: what is thrown away as an echo may be what one of them answered.
    What one bot tells another tells again: there only two names are two."""
    if one.told_by != other.told_by:
        return one.name is not None and other.name is not None and one.name != other.name
    if one.track is None or other.track is None or one.track == other.track or _one_tile(one, other):
        return False
    return not (one.by_bot or other.by_bot) and (one.name is None or one.name != other.name)


def _may_be_echo(one: Line, other: Line, short: tuple[str, ...], long: tuple[str, ...], config: CopiesConfig) -> bool:
    """Of two who each have a stream of their own only many words, all the same: people greet, thank and sing together."""
    both_own = one.source == other.source == PLATFORM
    return not both_own or (short == long and len(short) >= config.own)


def _tell_apart(words: tuple[str, ...]) -> Counter[str]:
    """What makes another thing of a sentence: its numbers, and what says no."""
    return Counter(w for w in words if w in NEGATIONS or any(c.isdigit() for c in w))


def _same_time(one: Line, other: Line, enough: bool, config: CopiesConfig) -> bool:
    together = min(one.end, other.end) - max(one.start, other.start)
    if together > 0 and together >= config.overlap * min(one.end - one.start, other.end - other.start):
        return True
    if one.start == other.start:
        return True
    says_it_again = one.track == other.track and one.source == other.source
    return enough and not says_it_again and abs(one.start - other.start) <= config.apart


def _may_be_one(one: Line, other: Line) -> bool:
    """Whether few words say enough: one label, a tile and a voice in it, somebody and nobody, or one name of which one copy
    knows no more: a transcript made afterwards often has names where the live one had ids. Of two bots, one name, or nobody."""
    if one.told_by != other.told_by:
        return one.name == other.name or one.track is None or other.track is None
    is_one_name = one.name is not None and one.name == other.name and one.is_named_only != other.is_named_only
    if one.track is None or other.track is None:  # of one recogniser, somebody's "yes" and nobody's are two
        return one.source != other.source
    return one.track == other.track or is_one_name or _one_tile(one, other)


def _one_tile(one: Line, other: Line) -> bool:
    return one.parent == other.track or other.parent == one.track


def _contains(long: tuple[str, ...], short: tuple[str, ...], config: CopiesConfig) -> bool:
    if long == short:
        return True
    needed = config.inside if len(long) > config.more * len(short) else config.same
    if len(set(short) & set(long)) < config.same * len(set(short)):
        return False
    blocks = [block for block in SequenceMatcher(None, long, short, autojunk=False).get_matching_blocks() if block.size]
    spread = blocks[-1].a + blocks[-1].size - blocks[0].a if blocks else 0
    return sum(block.size for block in blocks) >= needed * len(short) and spread <= config.loose * len(short) + 1


def kept(lines: Sequence[Line], linked: Mapping[str, Collection[str]], config: CopiesConfig) -> dict[str, str | None]:
    """uid → None: kept; else the uid of the better one that stands for it. The same for every order of `lines`.

    One is left out where those better than it, taken together, say `config.same` of its words."""
    found: dict[str, str | None] = {}
    better: dict[str, Line] = {}
    for line in sorted(lines, key=lambda line: (*(-part for part in line.rank), line.uid)):
        others = [better[uid] for uid in linked[line.uid] if uid in better]
        words = words_of(line.text)
        if others and _said(words, others) >= config.same * len(words):
            found[line.uid] = max(others, key=lambda other: (*other.rank, other.uid)).uid
        else:
            found[line.uid] = None
            better[line.uid] = line
    return found


def _said(words: Sequence[str], others: Iterable[Line]) -> int:
    """How many of `words` the others have, each of theirs counted once."""
    counts: dict[str, int] = {}
    for other in others:
        for word in words_of(other.text):
            counts[word] = counts.get(word, 0) + 1
    said = 0
    for word in words:
        if counts.get(word, 0) > 0:
            counts[word] -= 1
            said += 1
    return said


def together(uid: str, linked: Callable[[str], Collection[str]]) -> list[str]:
    """All that are copies of one another, by whatever way."""
    found, todo = {uid: None}, [uid]
    while todo:
        for other in linked(todo.pop()):
            if other not in found:
                found[other] = None
                todo.append(other)
    return list(found)


@lru_cache(maxsize=8192)
def words_of(text: str) -> tuple[str, ...]:
    """As they are compared: without case and punctuation; where words are written together, characters."""
    words = ["".join(c for c in word if c.isalnum()) for word in text.casefold().split()]
    whole = [word for word in words if word]
    if len(whole) <= 2 and sum(map(len, whole)) >= 12:  # one "word" of a sentence's length: written without blanks
        return tuple("".join(whole))
    return tuple(whole)
