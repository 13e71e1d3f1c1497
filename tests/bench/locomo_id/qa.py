"""Are questions answered rightly by a language model that reads what was found? With OPENAI_BASE_URL only.

As in the paper's tables: all-memory QA (the best turns of everybody's, nobody recognised) and strict identity-gated QA (only
what the asker, as recognised by voice, may read; right when both the person and the answer are). The same model answers and
judges, over the OpenAI-compatible chat/completions.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from tests.bench.chat import Chat, ReaderConfig
from tests.bench.locomo_id.collections import Doc, Query
from tests.bench.locomo_id.conflicts import conflicting
from tests.bench.locomo_id.corpus import ADVERSARIAL, Conversation
from tests.bench.locomo_id.evaluate import Heard
from tests.bench.locomo_id.gates import Shelf, through
from tests.bench.locomo_id.ranking import Positions

UNKNOWN = "not mentioned"
"""The right answer to an adversarial question."""
ANSWER = (
    "You answer from remembered turns of conversations. Give the shortest answer that is right, without a sentence around it; "
    f'dates as dates, not as "yesterday". If the turns do not tell, answer "{UNKNOWN}".'
)
JUDGE = (
    "You compare an answer with the right one. Reply with CORRECT if it says the same (other words, more detail and other "
    "notations of a date are fine), else with WRONG. Nothing else."
)


@dataclass(frozen=True, slots=True)
class Task:
    """One question with what is shown for it, and whether the asker was taken for who they are."""

    query: Query
    shown: tuple[str, ...]
    authorised: bool = True


class Reader:
    """Answers and judges; the same question over the same turns is asked once."""

    def __init__(self, config: ReaderConfig) -> None:
        self._chat = Chat(config)
        self._judged: dict[tuple[str, tuple[str, ...]], bool] = {}

    def tally(self, tasks: Sequence[Task]) -> Counter[str]:
        """`answered`, and of them `right_answers`: right, and given to the right person. Raises ModelFailed."""
        asked = {(t.query.id, t.shown): t for t in tasks if t.authorised and (t.query.id, t.shown) not in self._judged}
        with ThreadPoolExecutor(self._chat.config.at_once) as pool:
            for key, right in zip(asked, pool.map(self._right, asked.values()), strict=True):
                self._judged[key] = right
        right = sum(t.authorised and self._judged[t.query.id, t.shown] for t in tasks)
        return Counter(answered=len(tasks), right_answers=right)

    def _right(self, task: Task) -> bool:
        turns = "\n".join(task.shown) or "(nothing)"
        given = self._chat(ANSWER, f"Turns:\n{turns}\n\nQuestion: {task.query.text}")
        right = UNKNOWN if task.query.category == ADVERSARIAL else task.query.answer
        verdict = self._chat(JUDGE, f"Question: {task.query.text}\nRight answer: {right}\nAnswer: {given}")
        return verdict.strip().upper().startswith("CORRECT")


def gated_tasks(
    shelf: Shelf, heard: Heard, queries: Sequence[Query], accepted: Sequence[str | None], texts: Mapping[Doc, str], share: float
) -> list[Task]:
    """What each of about `share` of the askers is shown of what they said themselves; `accepted`: as whom they were let in."""
    chosen, theirs, owners = {q.id for q in sample(queries, share)}, through(heard, "own_gate"), heard.owners()
    return [
        Task(
            query,
            _texts(shelf, shelf.hits(query, theirs(person), own=True), texts),
            person is not None and owners.get(person) == query.asker,
        )
        for query, person in zip(queries, accepted, strict=True)
        if query.id in chosen
    ]


def ungated_tasks(shelf: Shelf, queries: Sequence[Query], texts: Mapping[Doc, str], share: float) -> list[Task]:
    """What anybody would be shown of everybody's."""
    everything = np.arange(len(shelf.docs))
    return [Task(q, _texts(shelf, shelf.hits(q, everything, own=False), texts)) for q in sample(queries, share)]


def sample(queries: Sequence[Query], share: float) -> list[Query]:
    """About `share` of the questions with words, the same in every run."""
    return [q for q in queries if q.text and zlib.crc32(q.id.encode()) % 10_000 < share * 10_000]


def _texts(shelf: Shelf, hits: Positions, texts: Mapping[Doc, str]) -> tuple[str, ...]:
    """In spoken order."""
    turns = shelf.collection.turns
    return tuple(texts[doc] for i in sorted(hits.tolist()) if (doc := turns[i].doc) is not None)


def as_read(conversations: Sequence[Conversation]) -> Mapping[Doc, str]:
    """Each turn as the model reads it: "[8 May 2023] Caroline: …"."""
    return {
        (told.id, story, said.dia_id): f"[{talk.at.day} {talk.at:%B %Y}] {said.speaker}: {said.text}"
        for conversation in conversations
        for story, told in enumerate((conversation, conflicting(conversation).copy))
        for talk in told.sessions
        for said in talk.turns
    }
