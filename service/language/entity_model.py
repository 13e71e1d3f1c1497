"""What does a turn speak of? As a language model reads it; what it gives is checked, or dropped. Which theme an entity belongs
to and which names are one is never the model's to say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from service.language.prompts import ENTITIES, fenced, one_line
from service.language.windows import Window, answered, windows
from service.types.chat import ChatModel, Prompt
from service.types.entities import EntityType, Mention, MentionKind
from service.types.facts import FactTurn
from service.types.names import normal

MentionCheck = Callable[[Mention], bool]
"""Whether it is an entity, whoever read it."""
Settled = Callable[[Mapping[str, tuple[Mention, ...]], Mapping[str, Hashable]], Mapping[str, tuple[Mention, ...]]]
"""Mentions by message, and who reads each message → each name with the type that it mostly has among the same readers."""


@dataclass(frozen=True, slots=True)
class GivenEntity:
    """As the model writes it."""

    turn: int
    words: str
    kind: MentionKind
    name: str
    type: EntityType


@dataclass(frozen=True, slots=True)
class GivenEntities:
    entities: tuple[GivenEntity, ...]


@dataclass(frozen=True, slots=True)
class EntityModelConfig:
    batch: int = 20  # turns a request: the instructions are about 350 tokens, twenty turns 600
    max_tokens: int = 2_000  # of a reply: twenty turns mention about forty, each takes about 40
    at_once: int = 4  # batches; the rest waits, and is not begun once one has failed
    max_unread: float = 0.05  # of a session's turns, but one at least, may get no fit answer; more: it is the wrong model
    max_each: int = 24  # mentions of one turn, as by rules
    alike: int = 3  # letters that a noun's dictionary form begins with as its words do, or all of a shorter one


class EntityModel:
    """An EntityReader. The model never sees a turn beside one that some of its readers may not read."""

    def __init__(self, chat: ChatModel, check: MentionCheck, settled: Settled, config: EntityModelConfig | None = None) -> None:
        self._chat, self._check, self._settled = chat, check, settled
        self._config = config or EntityModelConfig()

    @property
    def name(self) -> str:
        return f"model:{self._chat.name}"

    async def __call__(
        self, turns: Sequence[FactTurn], dropped: Counter[str] | None = None
    ) -> Mapping[str, tuple[Mention, ...]]:
        """Raises what the model raises. What it had answered is kept under the turns' space: the same call then goes on."""
        dropped = Counter() if dropped is None else dropped
        config = self._config

        async def ask(window: Window) -> GivenEntities:
            shown = [{"n": n, "text": turn.text} for n, turn in enumerate(turns[window.first : window.end], 1)]
            prompt = Prompt(ENTITIES, fenced({"turns": shown}), GivenEntities, config.max_tokens)
            return await self._chat(prompt, space=turns[window.first].space)

        answers = await answered(
            turns, windows(turns, config.batch), ask, at_once=config.at_once, max_unread=config.max_unread, dropped=dropped
        )
        found: dict[str, dict[tuple[EntityType, str], Mention]] = {}
        for window, given in answers:
            for one in given.entities:
                row = window.first + one.turn - 1
                made = self._made(turns[row].text, one) if window.first <= row < window.end else "of no turn that was shown"
                if isinstance(made, str):
                    dropped[made] += 1
                else:
                    found.setdefault(turns[row].message_id, {}).setdefault((made.type, made.name), made)
        in_order = [turn for turn in turns if turn.message_id in found]
        mentions = {turn.message_id: self._first(turn.text, found[turn.message_id].values()) for turn in in_order}
        return self._settled(mentions, {turn.message_id: turn.audience for turn in in_order})

    def _made(self, text: str, given: GivenEntity) -> Mention | str:
        """The mention, or why there is none."""
        surface = one_line(given.words)
        if not surface or _place(text, surface) is None:
            return "words that nobody said"
        name = normal(surface)
        if given.kind is MentionKind.NOUN and _is_form_of(normal(one_line(given.name)), name, self._config.alike):
            name = normal(one_line(given.name))
        mention = Mention(given.type, name, surface, given.kind)
        return mention if self._check(mention) else "no entity"

    def _first(self, text: str, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
        """In the order of the turn."""
        return tuple(sorted(mentions, key=lambda m: (_place(text, m.surface) or 0, m.name))[: self._config.max_each])


def _place(text: str, words: str) -> int | None:
    """Where whole words stand in a turn, in any case."""
    found = re.search(rf"(?<!\w){re.escape(normal(words))}(?!\w)", normal(text))
    return found.start() if found else None


def _is_form_of(name: str, said: str, alike: int) -> bool:
    """Whether a dictionary form may be that of the words said: as many words, each beginning alike."""
    pairs = list(zip(name.split(), said.split(), strict=False))
    same = len(name.split()) == len(said.split())
    return same and all(one[: min(alike, len(one))] == other[: min(alike, len(one))] for one, other in pairs)
