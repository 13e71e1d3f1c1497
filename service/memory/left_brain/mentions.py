"""What does a turn speak of? Names and nouns of parsed English; of other languages names alone, by their capitals.

An entity is its type and normalised name, exactly: nothing is joined because it sounds alike or means much the same. Somebody
may say that two are one (an alias), and take it back."""

from __future__ import annotations

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from service.memory.facts.english import FEMALE, FUNCTION_WORDS, MALE
from service.memory.facts.phrases import Tree
from service.memory.facts.rules import looks_english
from service.memory.left_brain.nouns import EMPTY, EVENTS, KIN, ORGANISATIONS, PLACES, TOPICS, TOPICS_ENDING
from service.memory.name_words import NOT_NAMES_EN
from service.types.entities import EntityType, Mention, MentionKind
from service.types.facts import FactTurn
from service.types.names import normal
from service.types.parsing import Parser, Sentence, Token

READER = "nouns-1"
"""Name and version of this reading, kept with each session that was read by it."""
_TYPES = {
    "PERSON": EntityType.PERSON,
    "GPE": EntityType.PLACE,
    "LOC": EntityType.PLACE,
    "FAC": EntityType.PLACE,
    "ORG": EntityType.ORGANISATION,
    "EVENT": EntityType.EVENT,
    "PRODUCT": EntityType.THING,
    "WORK_OF_ART": EntityType.THING,
    "NORP": EntityType.TOPIC,
    "LANGUAGE": EntityType.TOPIC,
    "LAW": EntityType.TOPIC,
}
_TIMES = frozenset({"DATE", "TIME", "CARDINAL", "PERCENT", "MONEY", "ORDINAL", "QUANTITY"})
_TITLES = frozenset({"mr", "mrs", "ms", "miss", "dr", "prof", "sir", "st"})
_LAND = frozenset(
    {"mount", "mountain", "lake", "river", "valley", "island", "street", "road", "park", "beach", "bay", "hill", "city"}
)
_MOVING = frozenset(
    "trip travel go move fly drive come flight journey tour train bus sail return head walk ticket holiday visit back".split()  # noqa: SIM905
)
_IN = frozenset({"in", "at", "near", "from", "to", "around", "through"})
_CAPITALS = re.compile(r"(?<![\w'’.])[^\W\d_a-z][\w'’-]+(?:\s+[^\W\d_a-z][\w'’-]+)*")
_BEGINS = re.compile(r"(?:^|[.!?…:\"“„»]\s*|\n\s*)$")


@dataclass(frozen=True, slots=True)
class MentionConfig:
    max_words: int = 6  # of a name: longer ones are a headline, or a parser that lost its way
    max_each: int = 24  # mentions of one turn: what is read aloud must not link all with all


DEFAULT = MentionConfig()


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """A turn as this reads it."""

    message_id: str
    text: str
    language: str | None
    readers: Hashable
    """Tells apart who may read it: of which type a name is, is voted among turns with the same readers."""


class NounReader:
    """An EntityReader."""

    name = READER

    def __init__(self, parser: Parser, config: MentionConfig = DEFAULT) -> None:
        self._parser, self._config = parser, config

    async def __call__(
        self, turns: Sequence[FactTurn], dropped: Counter[str] | None = None
    ) -> Mapping[str, tuple[Mention, ...]]:
        said = [SpokenTurn(turn.message_id, turn.text, turn.language, turn.audience) for turn in turns]
        return await asyncio.to_thread(mentions_of, said, self._parser, self._config)


def mentions_of(turns: Sequence[SpokenTurn], parser: Parser, config: MentionConfig = DEFAULT) -> dict[str, tuple[Mention, ...]]:
    """By message, each entity once, in the order of the turn; messages that mention nothing are missing.

    Heavy, for it parses: not on an event loop."""
    english = [turn for turn in turns if _read_by(parser, turn)]
    parsed = dict(zip([turn.message_id for turn in english], parser([turn.text for turn in english]), strict=True))
    found: dict[str, tuple[Mention, ...]] = {}
    for turn in turns:
        sentences = parsed.get(turn.message_id)
        said = _in_capitals(turn) if sentences is None else (m for sentence in sentences for m in _of_sentence(sentence))
        once = list({(m.type, m.name): m for m in said if _usable(m, config)}.values())[: config.max_each]
        if once:
            found[turn.message_id] = tuple(once)
    return voted(found, {turn.message_id: turn.readers for turn in turns})


def told_in(statement: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Those of `mentions` whose words as said stand in `statement`: what a fact speaks of that its own turn only points to."""
    text = normal(statement)
    return tuple(m for m in mentions if re.search(rf"(?<!\w){re.escape(normal(m.surface))}(?!\w)", text))


def _read_by(parser: Parser, turn: SpokenTurn) -> bool:
    if turn.language is not None:
        return re.split(r"[-_]", turn.language.lower())[0] in parser.languages
    return looks_english(turn.text)


def _usable(mention: Mention, config: MentionConfig) -> bool:
    words = mention.name.split()
    return 0 < len(words) <= config.max_words and len(mention.name) > 1 and any(c.isalpha() for c in mention.name)


def names_something(mention: Mention, config: MentionConfig = DEFAULT) -> bool:
    """Whether it is an entity, whoever read it: not a word that everybody says of everything, or what people are to whoever
    speaks, and no headline."""
    words = mention.name.split()
    if not _usable(mention, config):
        return False
    if mention.kind is MentionKind.NOUN:
        return not {words[-1]} & (EMPTY | KIN | FUNCTION_WORDS)
    return not all(word.strip(".") in _TITLES or word in NOT_NAMES_EN | FUNCTION_WORDS | KIN | EMPTY for word in words)


def voted(found: Mapping[str, tuple[Mention, ...]], readers: Mapping[str, Hashable]) -> dict[str, tuple[Mention, ...]]:
    """Each name with the type that it mostly has: a small recogniser takes Cork for a company now and then."""
    votes: dict[tuple[Hashable, str], Counter[EntityType]] = defaultdict(Counter)
    for id, mentions in found.items():
        for m in mentions:
            if m.kind is MentionKind.NAME:
                votes[readers[id], m.name][m.type] += 1
    order = list(EntityType)

    def settled(id: str, m: Mention) -> Mention:
        if m.kind is not MentionKind.NAME:
            return m
        counted = votes[readers[id], m.name]
        return replace(m, type=min(counted, key=lambda type: (-counted[type], order.index(type))))

    return {
        id: tuple({(m.type, m.name): m for m in (settled(id, m) for m in mentions)}.values()) for id, mentions in found.items()
    }


# ---- parsed English


def _of_sentence(sentence: Sentence) -> Iterator[Mention]:
    tree = Tree(sentence)
    taken: set[int] = set()
    for run in _names(tree):
        taken.update(run)
        if (mention := _named(tree, run)) is not None:
            yield mention
    for index, token in enumerate(tree.tokens):
        if index not in taken and (mention := _noun(tree, index, token)) is not None:
            yield mention


def _names(tree: Tree) -> Iterator[list[int]]:
    """Runs of tokens that are one name."""
    run: list[int] = []
    for index, token in enumerate(tree.tokens):
        inside = token.entity in _TYPES or (token.pos == "PROPN" and token.entity not in _TIMES)
        if run and (not inside or tree[run[-1]].entity != token.entity):
            yield run
            run = []
        if inside:
            run.append(index)
    if run:
        yield run


def _named(tree: Tree, run: Sequence[int]) -> Mention | None:
    kept = list(run)
    while kept and (tree[kept[0]].pos in ("DET", "PRON", "PUNCT", "ADP") or tree[kept[0]].lower == "the"):
        kept.pop(0)
    while kept and (tree[kept[-1]].pos in ("PUNCT", "PART", "ADP") or tree[kept[-1]].lower == "'s"):
        kept.pop()
    if not kept or not any(tree[i].text[:1].isupper() for i in kept):
        return None
    surface = _surface([tree[i] for i in kept])
    name = normal(surface)
    words = name.split()
    if all(
        word.strip(".") in _TITLES or word in NOT_NAMES_EN or word in FUNCTION_WORDS or word in KIN or word in EMPTY
        for word in words
    ):
        return None
    type = _TYPES.get(tree[kept[0]].entity)
    if _stands_for_a_place(tree, kept):
        type = EntityType.PLACE
    elif type in (None, EntityType.THING):
        type = _guessed(tree, kept)
    return Mention(type or EntityType.THING, name, surface, MentionKind.NAME)


def _stands_for_a_place(tree: Tree, run: Sequence[int]) -> bool:
    """ "In Cork", "a trip to Cork", "move to Cork": whatever the recogniser takes a single word for."""
    head = tree[run[-1]]
    if len(run) > 1 or head.dep != "pobj" or tree[run[0] - 1].pos == "DET":
        return False
    preposition = tree[head.head]
    return preposition.lower == "in" or (preposition.lower in ("to", "from") and tree[preposition.head].lemma in _MOVING)


def _guessed(tree: Tree, run: Sequence[int]) -> EntityType:
    """Of a name that the recogniser did not see: by its title, and by where it stands."""
    lower = {tree[i].lower.strip(".") for i in run}
    head = tree[run[-1]]
    if lower & _LAND:
        return EntityType.PLACE
    if lower & (FEMALE | MALE) or head.dep in ("nsubj", "nsubjpass", "dative", "poss", "npadvmod", "intj", "appos"):
        return EntityType.PERSON
    if head.dep == "pobj":
        return EntityType.PLACE if tree[head.head].lower in _IN - {"to", "from"} else EntityType.PERSON
    return EntityType.THING


def _noun(tree: Tree, index: int, token: Token) -> Mention | None:
    if token.pos != "NOUN" or token.dep in ("compound", "npadvmod", "intj") or token.entity in _TIMES:
        return None
    lemma = token.lemma.lower()
    if lemma in EMPTY or lemma in KIN or len(lemma) < 3 or not lemma.replace("-", "").isalpha():
        return None
    before: list[int] = []
    place = index - 1
    while (
        place >= 0
        and tree[place].dep == "compound"
        and tree[place].pos in ("NOUN", "PROPN")
        and tree[place].entity not in _TIMES
    ):
        before.insert(0, place)
        place -= 1
    tokens = [*(tree[i] for i in before), token]
    name = normal(" ".join(t.lemma.lower() for t in tokens))
    return Mention(_type_of(lemma), name, _surface(tokens), MentionKind.NOUN)


def _type_of(lemma: str) -> EntityType:
    if lemma in EVENTS:
        return EntityType.EVENT
    if lemma in PLACES:
        return EntityType.PLACE
    if lemma in ORGANISATIONS:
        return EntityType.ORGANISATION
    if lemma in TOPICS or (len(lemma) > 5 and lemma.endswith(TOPICS_ENDING)):
        return EntityType.TOPIC
    return EntityType.THING


def _surface(tokens: Sequence[Token]) -> str:
    """As it was said, blanks single."""
    text = ""
    for before, token in zip([None, *tokens], tokens, strict=False):
        text += (" " if before is not None and before.end < token.begin else "") + token.text
    return text


# ---- other languages


def _in_capitals(turn: SpokenTurn) -> Iterator[Mention]:
    """Words with a capital inside a sentence. German writes every noun so: there a run of two is a name, one is none."""
    german = (turn.language or "").lower().startswith("de")
    for match in _CAPITALS.finditer(turn.text):
        words = match[0].split()
        if _BEGINS.search(turn.text[: match.start()]):
            words = words[1:]
        if len(words) > german:
            surface = " ".join(words).rstrip(",.!?;:")
            yield Mention(EntityType.TOPIC, normal(surface), surface, MentionKind.NAME)
