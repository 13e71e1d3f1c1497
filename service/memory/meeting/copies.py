"""Which of the things said are one thing said, told twice? The same words at the same time: echo on another track, a second
bot's, the copy made after the call. The better attributed one is kept, whatever order they came in.

Short words are no evidence: two people say "yes" at once, and one says it twice in a second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby

CHAT = "chat"
"""A source whose lines are written, not spoken."""
PLATFORM = "platform"
"""A source that hears each participant's own stream."""
TRANSCRIPT = "transcript"
"""A source that tells the whole meeting once more, when it is over."""
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
    begins: float = 0.6  # of the shorter's letters, at the longer's beginning: one text, corrected and gone on with
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


ENDS = (".", "!", "?", "…")
"""How sentences end."""
SOURCES = {"platform": 3.0, "transcript": 3.0, "caption": 2.0, "diariser": 1.0}


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


def are_twins(one: Line, other: Line, config: CopiesConfig) -> bool:
    """Of two copies, whether they show that one participant has an id of each of two bots: one name is no evidence, for two may
    share it, but they say no sentence at once."""
    enough = min(len(words_of(one.text)), len(words_of(other.text))) >= config.words
    same = one.name is not None and one.name == other.name and None not in (one.track, other.track)
    return one.told_by != other.told_by and enough and same and CHAT not in (one.source, other.source)


def _are_two(one: Line, other: Line) -> bool:
    """Whether two participants say it, as far as is known: what is thrown away as an echo may be what one of them answered.
    What one bot tells another tells again: there only two names are two."""
    if one.told_by != other.told_by:
        return one.name is not None and other.name is not None and one.name != other.name
    if one.track is None or other.track is None or one.track == other.track or _one_tile(one, other):
        return False
    if _is_told_again(one, other) and (one.name is None or other.name is None):
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
    if _is_told_again(one, other):
        return one.name is None or other.name is None or one.name == other.name
    is_one_name = one.name is not None and one.name == other.name and one.is_named_only != other.is_named_only
    if one.track is None or other.track is None:  # of one recogniser, somebody's "yes" and nobody's are two
        return one.source != other.source
    return one.track == other.track or is_one_name or _one_tile(one, other)


def _is_told_again(one: Line, other: Line) -> bool:
    """Live, and once more in the transcript of it all: an id in the one is none in the other, and whom the one has no name of
    may be whom the other names."""
    return one.source != other.source and TRANSCRIPT in (one.source, other.source)


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


def reads_like(one: str, other: str, config: CopiesConfig) -> bool:
    """Whether of two texts of one speaker, from one instant on, one is the other as it was put right: most of the shorter is in
    the longer, or how it begins. A word alone says nothing but as the first of more."""
    short, long = sorted((words_of(one), words_of(other)), key=len)
    if len(short) <= 1:
        return short == long[: len(short)]
    if _contains(long, short, config):
        return True
    letters = "".join(short)
    return SequenceMatcher(None, letters, "".join(long)[: len(letters)], autojunk=False).ratio() >= config.begins


def kept(lines: Sequence[Line], linked: Mapping[str, Collection[str]], config: CopiesConfig) -> dict[str, str | None]:
    """uid → None: kept; else the uid of the better one that stands for it. The same for every order of `lines`.

    One is left out where those better than it, taken together, say `config.same` of its words; one of a transcript also where
    they do with those that only it could stand for: then it has in one what several said. One line stands for one of two that
    their source tells apart."""
    found: dict[str, str | None] = {}
    better: dict[str, Line] = {}
    in_order = sorted(lines, key=lambda line: (*(-part for part in line.rank), line.uid))
    for place, line in enumerate(in_order):
        others = [better[uid] for uid in sorted(linked[line.uid]) if uid in better]
        known = {other.uid for other in others}
        twins = [one for one in in_order[:place] if found[one.uid] is not None and _is_another(one, line, linked)]
        words = words_of(line.text) * (1 + sum(not known.isdisjoint(linked[one.uid]) for one in twins))
        beside = _beside(line, known, in_order[place + 1 :], linked) if others and line.source == TRANSCRIPT else []
        is_said = bool(others) and _said(words, (*others, *beside)) >= config.same * len(words)
        if is_said and not (line.source == TRANSCRIPT and unsaid(line, (*others, *beside), config)):
            found[line.uid] = max(others, key=lambda other: (*other.rank, other.uid)).uid
        else:
            found[line.uid] = None
            better[line.uid] = line
    return found


def _is_another(one: Line, line: Line, linked: Mapping[str, Collection[str]]) -> bool:
    """Whether one source tells both apart, which say the same."""
    alike = one.source == line.source and words_of(one.text) == words_of(line.text)
    return alike and one.told_by == line.told_by and one.uid not in linked[line.uid]


def _beside(line: Line, better: Collection[str], worse: Iterable[Line], linked: Mapping[str, Collection[str]]) -> list[Line]:
    """Live copies of `line` that are none of those better than it, nor of each other: the rest of what it has in one."""
    found: list[Line] = []
    for other in worse:
        known = {*better, *(one.uid for one in found)}
        if other.uid in linked[line.uid] and known.isdisjoint(linked[other.uid]) and other.source != TRANSCRIPT:
            found.append(other)
    return found


def unsaid(line: Line, better: Iterable[Line], config: CopiesConfig) -> list[tuple[int, int]]:
    """Runs of its words (from, to; of `words_of`) that none of `better` has, which each say some of it. Of so few that two
    recognisers may differ by them, only whole sentences."""
    words = words_of(line.text)
    said = [False] * len(words)
    for other in sorted(better, key=lambda other: (other.start, other.end, other.uid)):
        free = tuple("" if is_said else word for word, is_said in zip(words, said, strict=True))
        first, last = _place_in(free, other, line, config)
        said[first:last] = [True] * (last - first)
    runs = [(is_said, list(places)) for is_said, places in groupby(range(len(words)), key=said.__getitem__)]
    left = [(places[0], places[-1] + 1) for is_said, places in runs if not is_said]
    if said.count(False) > (1.0 - config.same) * len(words) + 1e-9:
        return left
    return [(first, last) for first, last in left if _is_sentence(line, first, last)]


def _is_sentence(line: Line, first: int, last: int) -> bool:
    """Whether these of its words are one or more, by its punctuation."""
    spelt = [word for word in line.text.split() if words_of(word)]
    if len(spelt) != len(words_of(line.text)):
        return False
    return all(place in (0, len(spelt)) or spelt[place - 1].rstrip("\"'”’)»").endswith(ENDS) for place in (first, last))


def _place_in(words: tuple[str, ...], other: Line, line: Line, config: CopiesConfig) -> tuple[int, int]:
    """From which to which of the words of `line` are what `other` says: of several places the one nearest to its time."""
    own = words_of(other.text)
    share = (other.start - line.start) / (line.end - line.start) if line.end > line.start else 0.0
    exact = [place for place in range(len(words) - len(own) + 1) if words[place : place + len(own)] == own]
    if exact:
        first = min(exact, key=lambda place: abs(place - share * len(words)))
        return first, first + len(own)
    blocks = [block for block in SequenceMatcher(None, words, own, autojunk=False).get_matching_blocks() if block.size]
    if sum(block.size for block in blocks) < config.same * len(own):
        return 0, 0
    return max(0, blocks[0].a - blocks[0].b), min(len(words), blocks[-1].a + len(own) - blocks[-1].b)


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
