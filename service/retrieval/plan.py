"""What does a question ask for? Words for the lexical leg, meaning for the dense ones, people and times. Rules only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from service.retrieval.question_words import ERRANDS, words_of
from service.retrieval.questions import Word, parts, understand, without_absence, without_lead
from service.timewords import windows
from service.types.facts import TimeSpan
from service.types.names import folded
from service.types.search import Filters, QuestionType, Wants

ASKER_WORDS = words_of(
    "i me my mine myself i'm i've i'd i'll ich mir mich mein meine meinen meinem meiner yo mi mis conmigo 我"
)
WE_WORDS = words_of("we us our ours ourselves we'd we've we're we'll wir uns unser unsere nosotros nosotras nos 我们")
"""The asker and who hears the answer too."""
_OWNERS = words_of("my mine our ours mein meine meinen meinem meiner unser unsere mi mis")
_VAGUE = words_of(
    """thing things anything something everything stuff lot happened happen each other another news words told asked miss missed
    anybody anyone somebody someone everybody everyone was wer wem wen hat haben habe wurde wurden ist der die das von zu über
    qué quién a le lo la el los las del de se"""
)
"""Words beside names that leave a question to the edges: "did Ana tell Bo anything?"."""
STOP_WORDS = frozenset(
    re.findall(
        r"\S+",
        """a an the and or but if so as of at by for from in into on onto to with about over up out off than then that this
        these those there here it its it's he she they them their his her him hers theirs we us our ours you your yours is
        are was were be been being am do does did done has have had having can could will would shall should may might must
        not no nor who whom whose what what's which when where why how didn't don't doesn't isn't aren't wasn't any some
        i me my mine myself tell said say says""",
    )
)
"""Words that say nothing about what is asked (the index keeps them, since other languages need theirs)."""

NEVER, EVER = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
"""Before and after all that is said."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_WORD_OR_COMMA = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[,&]")
_NAMES_WITHIN = re.compile(r"(?<=[\w,;:] )[A-Z][^\W\d_]+(?:['’]s)?|\b\d{2,}\b")
_OWNS = re.compile(r"['’]s?$")
_IDEOGRAPH = re.compile(r"[\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
_ENDING = re.compile(r"(?<=\w\w\w)(?:'s|ing|ed|es|s|e)$")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Plan:
    """What the legs are asked, made from one question."""

    words: str
    """For the full text: the question without names and words that say nothing; all of it when nothing else is left."""
    names: str
    """For the full text too, and to count for little: what is said by or to somebody seldom names them. Who is spoken of in
    what one told another is among `words`."""
    meaning: str
    """For the embedding: the question without the names of people, which pull the vector to turns that address them."""
    people: tuple[str, ...]
    """Ids of the visible people named in it, and of the asker where it says I or my; theirs are preferred, never required."""
    type: QuestionType = QuestionType.LOOKUP
    speakers: tuple[str, ...] = ()
    """Ids of those whose words are asked for: Ana in "what did Ana tell Bo?". Among `people`, as are the addressees."""
    addressees: tuple[str, ...] = ()
    mutual: bool = False
    """What they said to one another: everybody is speaker and addressee."""
    wants: Wants | None = None
    """Of a question of the type WHO: whom it asks for."""
    absent: bool = False
    """What was said while the asker was not there."""
    windows: tuple[TimeSpan, ...] = ()
    """The times that it names: when something was said, or when it happened. Open to a side: until EVER, or since NEVER."""
    parts: tuple[str, ...] = ()
    """The questions that it is made of, where it is made of several."""
    verbs: frozenset[str] = frozenset()
    """Its words for saying."""
    subject: str = ""
    """What of `words` says what was said: without times, and words for saying. Empty: by edges and time alone."""

    @property
    def directed(self) -> bool:
        """The edges say more than the words: who said it to whom, or while who was away."""
        return bool(self.addressees or self.absent or self.wants or self.mutual)

    @property
    def by_edges(self) -> bool:
        """It says who, to whom or when, and no word of what: "what did Ana tell Bo?", "what happened yesterday?"."""
        return not self.subject and bool(self.speakers or self.addressees or self.absent or self.windows)


def plan(
    question: str,
    people: Mapping[str, Sequence[str]],
    asker: Sequence[str] = (),
    *,
    hearers: Sequence[str] = (),
    asked_at: datetime | None = None,
    zone: str | None = None,
) -> Plan:
    """`people`: names (and aliases) of visible people by id; `asker`: the asker's ids, empty when nobody in particular asks;
    `hearers`: ids of those who hear the answer too, whom "we" means beside the asker. Times in the question are what they
    mean at `asked_at` in `zone`; without `asked_at` it has none. Raises ZoneUnknown.

    A name counts as a whole word or run of words, with or without 's; of two people with one name both are meant."""
    whole = without_lead(question)
    asked, absent = without_absence(whole)
    asked = next((text for text in (asked, whole) if _WORD.search(text)), question)
    named = _mentions(asked, people)
    words = _marked(asked, named, tuple(asker), tuple(dict.fromkeys((*asker, *hearers))))
    understood = understand(question, words, absent=absent)
    meaning = _without(asked, named)
    said = [word for word in _WORD.findall(meaning) if folded(word) not in STOP_WORDS]
    mentioned = [id for mention in named for id in mention.ids]
    mentioned += [id for word in words if word.asker and word.people for id in word.people]
    roles = {*understood.speakers, *understood.addressees}
    about: list[str] = said
    others: tuple[str, ...] = ()
    if roles or understood.wants is not None:
        about = [word for word in said if folded(word) not in understood.verbs]
    if understood.addressees or understood.wants is not None:
        others = tuple(dict.fromkeys(m.name for m in named if not roles & set(m.ids)))
    errands = ERRANDS if understood.type is QuestionType.COMMITMENT else frozenset[str]()
    times = _times(question, asked_at, zone)
    timed = {folded(word) for time in times for word in _WORD.findall(time.words)}
    return Plan(
        words=" ".join((*(about or said), *others)) or ("" if named else question),
        names=" ".join(dict.fromkeys(mention.name for mention in named if mention.name not in others)),
        meaning=meaning if _WORD.search(meaning) else question,
        people=tuple(dict.fromkeys(mentioned)),
        type=understood.type,
        speakers=understood.speakers,
        addressees=understood.addressees,
        mutual=understood.mutual,
        wants=understood.wants,
        absent=understood.absent,
        verbs=understood.verbs,
        windows=times,
        parts=parts(question),
        subject=" ".join((*(word for word in about if folded(word) not in _VAGUE | timed | errands), *others)),
    )


def content_words(text: str) -> frozenset[str]:
    """The words of `text` that say something, folded for comparison: without case, and without common English endings."""
    return frozenset(_ENDING.sub("", word) for word in _WORD.findall(folded(text)) if word not in STOP_WORDS)


def linking_terms(texts: Sequence[str], question: str, limit: int = 6) -> tuple[str, ...]:
    """Names and numbers in `texts` that `question` has not: what links a message with others. A name is what is written with
    a capital within a sentence; so in German every noun is one, and in writing without capitals there is none."""
    asked = content_words(question)
    found: dict[str, None] = {}
    for text in texts:
        for match in _NAMES_WITHIN.finditer(text):
            term = match[0].replace("’", "'").removesuffix("'s")
            if not content_words(term) <= asked and folded(term) not in STOP_WORDS:
                found.setdefault(term)
    return tuple(found)[:limit]


@dataclass(frozen=True, slots=True)
class _Mention:
    """Somebody named at [start, end) of the question."""

    start: int
    end: int
    name: str
    ids: tuple[str, ...]
    owner: bool


def _mentions(question: str, people: Mapping[str, Sequence[str]]) -> tuple[_Mention, ...]:
    """In the order of the question; of names within one another the longer one."""
    found: list[_Mention] = []
    for name, ids in _by_name(people):
        for match in _name_pattern(name).finditer(question):
            start, end = match.span()
            if not any(start < other.end and other.start < end for other in found):
                found.append(_Mention(start, end, name, tuple(ids), bool(_OWNS.search(match[0]))))
    return tuple(sorted(found, key=lambda mention: mention.start))


def _marked(question: str, named: Sequence[_Mention], asker: tuple[str, ...], together: tuple[str, ...]) -> tuple[Word, ...]:
    """The words of `question` with people marked: those named, the asker, and who "we" are."""
    found: list[Word] = []
    position = 0
    for mention in (*named, None):
        for text in _WORD_OR_COMMA.findall(question[position : mention.start if mention else len(question)]):
            plain = folded(text)
            if plain in ASKER_WORDS | WE_WORDS:
                meant = asker if plain in ASKER_WORDS else together
                found.append(Word(plain, meant, asker=True, owner=plain in _OWNERS))
            else:
                found.append(Word(plain))
        if mention:
            found.append(Word(mention.name, mention.ids, owner=mention.owner))
            position = mention.end
    return tuple(found)


def _times(question: str, asked_at: datetime | None, zone: str | None) -> tuple[TimeSpan, ...]:
    found = windows(question, asked_at, zone=zone) if asked_at is not None else ()
    return tuple(
        TimeSpan(time.since or NEVER, time.until or EVER, time.precision, question[time.begin : time.end]) for time in found
    )


def _without(question: str, named: Sequence[_Mention]) -> str:
    kept, position = [], 0
    for mention in named:
        kept.append(question[position : mention.start])
        position = mention.end
    return _BLANKS.sub(" ", " ".join((*kept, question[position:]))).strip()


def _by_name(people: Mapping[str, Sequence[str]]) -> list[tuple[str, list[str]]]:
    """Each name with the ids of all who have it; longer names first, so that no part of one is taken for another."""
    found: dict[str, tuple[str, list[str]]] = {}
    for id, names in people.items():
        for name in names:
            if _WORD.search(name):
                found.setdefault(folded(name), (name.strip(), []))[1].append(id)
    return sorted(found.values(), key=lambda entry: (-len(entry[0]), entry[0]))


def _name_pattern(name: str) -> re.Pattern[str]:
    """A name that is an everyday word too (Will, May) counts only as written, and not as the first word; in writing without
    blanks between words, names have no ends."""
    inner = r"\s+".join(re.escape(part) for part in name.split())
    if _IDEOGRAPH.search(name):
        return re.compile(inner)
    if folded(name) in STOP_WORDS:
        return re.compile(rf"(?<=\S\s){inner}(?:['’]s)?(?!\w)")
    return re.compile(rf"(?<!\w){inner}(?:['’]s)?(?!\w)", re.IGNORECASE)


def narrowing(planned: Plan, filters: Filters) -> Filters | None:
    """`filters` with who said it to whom, as the question has it; also by time, where it has no words of what was said. None
    when that narrows nothing."""
    narrowed = replace(
        filters, speakers=filters.speakers or planned.speakers, addressees=filters.addressees or planned.addressees
    )
    if planned.by_edges:
        about = () if planned.absent or planned.speakers or planned.addressees else planned.people
        narrowed = replace(narrowed, by_or_to=filters.by_or_to or about)
        for time in planned.windows[:1]:
            since = time.start if time.start != NEVER else None
            until = time.end if time.end != EVER else None
            narrowed = replace(narrowed, since=_later(filters.since, since), until=_earlier(filters.until, until))
    return narrowed if narrowed != filters or planned.absent or planned.by_edges else None


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((time for time in (one, other) if time), default=None)


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min((time for time in (one, other) if time), default=None)
