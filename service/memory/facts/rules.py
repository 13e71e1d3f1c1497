"""How are the facts of a session's turns read by rules, over parsed English?"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from service.memory.facts.answers import Asked, uncapitalised
from service.memory.facts.attributes import attribute_of
from service.memory.facts.dates import place_dates
from service.memory.facts.english import FUNCTION_WORDS
from service.memory.facts.kinds import kind_of
from service.memory.facts.persons import Edits, Roles, persons, rendered
from service.memory.facts.phrases import Tense, Tree, clause, clause_heads
from service.memory.facts.references import Mention, for_other_voice, mentions, open_pronouns, place_meant, resolve
from service.memory.facts.shapes import Shape, elliptic, ordered, shape_of
from service.memory.facts.utterances import Lead, Utterance, utterances
from service.timewords import Leaning, TimeWord, ZoneUnknown, times, zone_of
from service.types.facts import ADDRESSEE, SPEAKER, Fact, FactKind, FactTurn, Precision, TimeSpan
from service.types.parsing import Parser


@dataclass(frozen=True, slots=True)
class RulesConfig:
    """Confidences order facts; none is left out for one."""

    plain: float = 0.9
    resolved: float = 0.75  # a pronoun was taken for what was named before
    answered: float = 0.75  # half of it was in the question
    hedged: float = 0.6  # "I think", "probably"
    max_words: int = 60  # of a sentence; longer ones are run together by recognition, and no single statement
    sentences_before: int = 6  # that a pronoun may look back over, within the turns that may be used


DEFAULT = RulesConfig()
UNREAD = "turns in a language not read"
RUN_TOGETHER = "sentences run together"
"""Why what was said may have facts that are not read."""


@dataclass(slots=True)
class _Said:
    """What a turn leaves behind for those after it."""

    turn: FactTurn
    mentions: list[list[Mention]] = field(default_factory=list)
    """By sentence, in order."""
    asked: _Question | None = None
    """Its last sentence, where that asks something."""


@dataclass(frozen=True, slots=True)
class _Question:
    tree: Tree
    resolved: Edits
    """Of the pronouns of the third person alone."""
    times: tuple[TimeWord, ...]
    kept: tuple[int, ...]
    evidence: tuple[str, ...]
    about: TimeSpan | None


class RuleExtractor:
    """A FactExtractor. Languages that `parser` does not read give no facts; a turn without a language is taken for one that it
    reads when most of its letters are Latin and it has English function words in it."""

    name = "rules-2"

    def __init__(self, parser: Parser, config: RulesConfig = DEFAULT) -> None:
        self._parser = parser
        self._config = config

    async def __call__(self, turns: tuple[FactTurn, ...], dropped: Counter[str] | None = None) -> tuple[Fact, ...]:
        return await asyncio.to_thread(self.extract, turns, dropped)

    def extract(self, turns: Sequence[FactTurn], dropped: Counter[str] | None = None) -> tuple[Fact, ...]:
        dropped = Counter() if dropped is None else dropped
        said = [utterances(turn.text) if self._reads(turn) else [] for turn in turns]
        dropped += Counter({UNREAD: sum(bool(turn.text.strip()) and not self._reads(turn) for turn in turns)})
        texts = [utterance.text for each in said for utterance in each]
        parsed = iter(self._parser(texts))
        facts: list[Fact] = []
        before: list[_Said] = []
        for turn, each in zip(turns, said, strict=True):
            reading = _Turn(turn, before[-min(turn.may_use, 3) :] if turn.may_use > 0 else [], self._config)
            for utterance in each:
                facts.extend(reading.read(utterance, [Tree(sentence) for sentence in next(parsed)]))
            before.append(reading.said)
            dropped += Counter({RUN_TOGETHER: reading.run_together})
        return tuple(facts)

    def _reads(self, turn: FactTurn) -> bool:
        if turn.language is not None:
            return re.split(r"[-_]", turn.language.lower())[0] in self._parser.languages
        return looks_english(turn.text)


def looks_english(text: str) -> bool:
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text.lower())
    latin = sum(word.isascii() for word in words)
    return bool(words) and latin >= 0.9 * len(words) and (len(words) < 4 or any(word in FUNCTION_WORDS for word in words))


class _Turn:
    """Reads one turn, sentence by sentence."""

    def __init__(self, turn: FactTurn, before: Sequence[_Said], config: RulesConfig) -> None:
        self.turn, self.config, self.before = turn, config, before
        self.said = _Said(turn)
        self.allowed = {turn.message_id, *(said.turn.message_id for said in before)}
        self.zone = turn.zone if _known(turn.zone) else None
        self.dated = _known(turn.zone)
        self.run_together = 0

    def read(self, utterance: Utterance, trees: list[Tree]) -> list[Fact]:
        answer = self._answer(utterance, trees)
        found = list(answer)
        for tree in trees:
            if tree.root is None:
                continue
            if len(tree.tokens) > self.config.max_words:
                self.run_together += 1
                continue
            read = self._sentence(tree, utterance, may_state=not answer or tree is not trees[0])
            found.extend(fact for fact in read if not any(fact.statement == other.statement for other in found))
        return found

    # ---- one sentence

    def _sentence(self, tree: Tree, utterance: Utterance, *, may_state: bool) -> list[Fact]:
        quoted = _quoted(tree)
        words = self._times(tree, utterance.text)
        edits = persons(tree, Roles(), quoted)
        context, resolved = self._refer(tree, edits, quoted)
        found: list[Fact] = []
        asks = utterance.asks and tree.tokens[-1].text == "?"
        if may_state or asks:
            for kept, head, evidence in self._clauses(tree, edits, quoted, context, resolved, whole=asks):
                fact = self._fact(tree, kept, head, edits, words, evidence, utterance, asks=asks)
                found.extend([fact] if fact is not None else [])
        taken = [i for i, t in enumerate(tree.tokens) if any(w.begin <= t.begin < w.end for w in words)]
        self.said.mentions.append(mentions(tree, edits, self.turn.message_id, resolved, taken))
        if asks:
            kept = clause(tree, tree.root or 0, [])
            third = {i: edits[i] for i in resolved}
            open_ = open_pronouns(tree, kept, edits, quoted)
            about = _about(words, kept, tree)
            everything = tuple(dict.fromkeys(id for ids in resolved.values() for id in ids))
            self.said.asked = self.said.asked if open_ else _Question(tree, third, words, tuple(kept), everything, about)
        return found

    def _times(self, tree: Tree, text: str) -> tuple[TimeWord, ...]:
        """Each as the tense of its verb has it."""
        if not self.dated:
            return ()
        back, on = (
            {w.begin: w for w in times(text, self.turn.said_at, zone=self.zone, language="en", leaning=leaning)}
            for leaning in (Leaning.PAST, Leaning.FUTURE)
        )
        found = []
        for begin in sorted({*back, *on}):
            index = next((i for i, t in enumerate(tree.tokens) if t.begin == begin), None)
            if index is not None:
                past = tree.tense_at(index) is Tense.PAST and not tree.put_off_to(index)
                found.append((back if past else on).get(begin))
        return tuple(word for word in found if word is not None)

    def _refer(self, tree: Tree, edits: Edits, quoted: set[int]) -> tuple[list[list[Mention]], dict[int, tuple[str, ...]]]:
        """Resolves what can be, pronoun by pronoun, into `edits`; with the messages that each took."""
        before = self._spoken_of()
        resolved: dict[int, tuple[str, ...]] = {}
        far = not self.said.mentions and (not self.before or self.before[-1].asked is None)
        for index in open_pronouns(tree, range(len(tree.tokens)), edits, quoted):
            if index not in open_pronouns(tree, range(len(tree.tokens)), edits, quoted):
                continue  # "she … her": what was resolved before it explains it
            evidence = resolve(tree, [index], before, edits, far=far)
            if evidence is not None:
                resolved[index] = tuple(id for id in evidence if id != self.turn.message_id)
        for index, token in enumerate(tree.tokens):
            if (
                token.lower == "there"
                and token.dep == "advmod"
                and index not in quoted
                and (place := place_meant(before)) is not None
            ):
                edits[index] = f"in {place.text}"
                resolved[index] = tuple(id for id in place.evidence if id != self.turn.message_id)
        return before, resolved

    def _spoken_of(self) -> list[list[Mention]]:
        """The mentions of the sentences before, nearest first, as this voice would say them."""
        found = list(reversed(self.said.mentions))
        for distance, said in enumerate(reversed(self.before)):
            for sentence in reversed(said.mentions):
                own = said.turn.voice == self.turn.voice
                turned = [m if own else for_other_voice(m, asked=distance == 0 and said.asked is not None) for m in sentence]
                near = [
                    m
                    for m in turned
                    if m is not None and (own or distance == 0 or (SPEAKER not in m.text and ADDRESSEE not in m.text))
                ]
                found.append([m for m in near if self.allowed.issuperset(m.evidence)])
        return found[: self.config.sentences_before]

    def _clauses(
        self,
        tree: Tree,
        edits: Edits,
        quoted: set[int],
        before: list[list[Mention]],
        resolved: dict[int, tuple[str, ...]],
        *,
        whole: bool,
    ) -> list[tuple[list[int], int, tuple[str, ...]]]:
        """The parts of a sentence that stand alone, each with its verb and the other messages it needs: a clause with a pronoun
        that only the clause before explains stays with that one."""
        heads = clause_heads(tree)
        groups: list[list[int]] = []
        for head in heads:
            alone = clause(tree, head, heads)
            if groups and (whole or open_pronouns(tree, alone, edits, quoted) or _bound(tree, head)):
                groups[-1].append(head)
            else:
                groups.append([head])
        found = []
        for group in groups:
            kept = clause(tree, group[0], [head for head in heads if head not in group])
            if not open_pronouns(tree, kept, edits, quoted):
                evidence = [id for index in kept for id in resolved.get(index, ())]
                found.append((kept, group[0], tuple(dict.fromkeys(evidence))))
        return found

    def _fact(
        self,
        tree: Tree,
        kept: list[int],
        head: int,
        edits: Edits,
        words: Sequence[TimeWord],
        context: tuple[str, ...],
        utterance: Utterance,
        *,
        asks: bool,
    ) -> Fact | None:
        shape = shape_of(tree, head, kept, asks=asks, text=utterance.text)
        if shape is None:
            return None
        edits = dict(edits)
        inside = [w for w in words if any(tree[i].begin == w.begin for i in kept)]
        placed = place_dates(tree, inside, zone_of(self.zone), edits)
        text = rendered(tree, kept, edits)
        about = _narrowest(placed)
        kind = FactKind.QUESTION
        if shape is Shape.ASKS:
            small = tree[kept[0]].lower in FUNCTION_WORDS and tree[kept[0]].text != "I"
            statement = f"{SPEAKER} asks: {text[:1].lower() + text[1:] if small else text}?"
        elif shape is Shape.ORDERS:
            statement = f"{SPEAKER} asks {ADDRESSEE} {ordered(tree, kept, head, edits)}."
        else:
            ahead = about is not None and about.end > self.turn.said_at
            kind = kind_of(tree, head, kept, ahead=ahead)
            statement = text[:1].upper() + text[1:] + ("" if text.endswith((".", "!")) else ".")
        attribute = attribute_of(statement, kind, tree, head)
        confidence = self.config.hedged if utterance.hedged else self.config.resolved if context else self.config.plain
        return Fact(
            statement=statement,
            kind=kind,
            source=self.turn.message_id,
            context=context,
            about=about,
            attribute=attribute.name if attribute else None,
            value=attribute.value if attribute else None,
            confidence=confidence,
        )

    # ---- answers

    def _answer(self, utterance: Utterance, trees: list[Tree]) -> list[Fact]:
        """The fact that an answer to the turn right before makes with its question."""
        last = self._asker()
        question = last.asked if last is not None else None
        if last is None or question is None or not utterance.first:
            return []
        edits = persons(question.tree, Roles().turned())
        edits.update({i: _swapped(text) for i, text in question.resolved.items()})
        place_dates(question.tree, question.times, zone_of(self.zone), edits)
        evidence = tuple(dict.fromkeys((last.turn.message_id, *question.evidence)))
        if not self.allowed.issuperset(evidence):
            return []
        asked = Asked(question.tree, edits, question.kept, evidence)
        kind, statement, about = FactKind.STATEMENT, None, question.about
        if not utterance.text or (utterance.lead is Lead.YES and elliptic(trees)):
            if utterance.lead is Lead.YES and (statement := asked.promised()) is not None:
                kind = FactKind.COMMITMENT
            else:
                statement = asked.stated(utterance.lead)
        elif (
            len(trees) == 1
            and utterance.lead is Lead.NONE
            and not utterance.asks
            and (part := self._fragment(trees[0], utterance))
        ):
            statement = asked.completed(part[0]) if asked.fits(trees[0], dated=part[1] is not None) else None
            about = part[1] or about
        if statement is None or ("{" not in statement and not re.search(r"[A-Za-z]{3}", statement)):
            return []
        if kind is FactKind.STATEMENT and utterance.lead is Lead.YES and about is not None and about.end > self.turn.said_at:
            kind = FactKind.PLAN
        context = tuple(id for id in evidence if id != self.turn.message_id)
        return [Fact(statement, kind, self.turn.message_id, context, about, confidence=self.config.answered)]

    def _asker(self) -> _Said | None:
        """Who asked last, if it is who spoke right before, and another voice."""
        if not self.before or self.before[-1].turn.voice == self.turn.voice:
            return None
        for said in reversed(self.before):
            if said.turn.voice != self.before[-1].turn.voice:
                return None
            if said.asked is not None:
                return said
        return None

    def _fragment(self, tree: Tree, utterance: Utterance) -> tuple[str, TimeSpan | None] | None:
        """The text of an answer without a verb of its own, dates resolved, and its time; None for anything else."""
        root = tree.root
        if root is None or tree[root].pos not in ("NOUN", "PROPN", "ADP", "NUM", "ADV", "PRON"):
            return None
        if any(t.tag in ("VBZ", "VBP", "VBD", "MD", "VB") for t in tree.tokens) or not 1 <= len(tree.tokens) <= 14:
            return None
        edits = persons(tree, Roles())
        kept = clause(tree, root, [])
        if open_pronouns(tree, kept, edits, ()) or (tree[root].pos == "ADV" and len(kept) < 2):
            return None
        placed = place_dates(tree, self._times(tree, utterance.text), zone_of(self.zone), edits)
        return uncapitalised(rendered(tree, kept, edits), tree), _narrowest(placed)


def _known(zone: str | None) -> bool:
    """Of a zone that is none nothing can be dated: its times stay as they were said."""
    try:
        zone_of(zone)
    except ZoneUnknown:
        return False
    return True


def _swapped(text: str) -> str:
    return text.replace(SPEAKER, "\0").replace(ADDRESSEE, SPEAKER).replace("\0", ADDRESSEE)


def _quoted(tree: Tree) -> set[int]:
    """Indices between double quotation marks."""
    found: set[int] = set()
    inside = False
    for index, token in enumerate(tree.tokens):
        if token.text in ('"', "“", "”", "``", "''", "„"):
            inside = not inside
        elif inside:
            found.add(index)
    return found


def _bound(tree: Tree, head: int) -> bool:
    """Coordinated with "or" or "but not": says nothing alone."""
    return any(tree[c].lower == "or" for c in tree.children(tree[head].head, "cc"))


def _narrowest(words: Sequence[TimeWord]) -> TimeSpan | None:
    return min((w.span for w in words), key=lambda span: -tuple(Precision).index(span.precision), default=None)


def _about(words: Sequence[TimeWord], kept: Sequence[int], tree: Tree) -> TimeSpan | None:
    return _narrowest([w for w in words if any(tree[i].begin == w.begin for i in kept)])
