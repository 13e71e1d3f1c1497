"""What speaks for a candidate? Numbers from its searches, its neighbours, its words, and who said it when.

Scores are taken relative to the pool (z: in its standard deviations) or to the best a message could have, so that they mean
the same for a question of two words and one of twelve, and for one embedding model and another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from service.retrieval.signals import Signals
from service.retrieval.words import Nearness, asked, rarity, spoken, words_of
from service.types.candidates import Place, Words

Column = npt.NDArray[np.float64]
"""Shape (candidates,)."""

REACH = 20
"""Turns that the widest kernel reaches: a passage of a meeting; tried on QMSum."""
_ASKS = re.compile(r"[?？]\s*[\"”’)]*\s*$")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
_YEAR = re.compile(r"\d{4}$|\d+(?:st|nd|rd|th)$")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TIME = _set("""yesterday today tonight tomorrow ago last next week weeks weekend month months year years day days recently
    morning evening afternoon night since monday tuesday wednesday thursday friday saturday sunday january february march april
    june july august september october november december""")
_NUMBER = _set("one two three four five six seven eight nine ten twelve dozen hundred thousand twice couple")
_REASON = _set("because since cause cuz reason reasons why so")
_FIRST = _set("i i'm i've i'd i'll my me we our us")
_WHEN = re.compile(r"\bwhen\b|\bhow long\b|\bwhat (?:date|day|month|year|time)\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow (?:many|much|often|old|long)\b", re.IGNORECASE)
_WHERE_WHO = re.compile(r"\bwh(?:ere|o|ose|ich)\b|\bwhat (?:is|are|was|were) the names?\b", re.IGNORECASE)
_WHY = re.compile(r"\bwhy\b|\bhow (?:does|did|do|is|are|was)\b", re.IGNORECASE)
_NO_FACT = 0.02  # of cosine, below the least near fact found: that of what has none, or one further off
_DAY = 86_400.0
_WEEK = 7.0  # days: what happened is told soon after


@dataclass(slots=True)
class Kept:
    """What the rankings of one search take from one another: most of what one ranks is ranked again by the next."""

    words: dict[str, list[str]] = field(default_factory=dict)
    """By text."""
    forms: dict[str, _Form] = field(default_factory=dict)
    """By text."""
    near: dict[tuple[str, ...], tuple[Nearness, dict[str, list[int]]]] = field(default_factory=dict)
    """By the words of a question; with the rows of texts in it."""

    def said(self, text: str) -> list[str]:
        if (words := self.words.get(text)) is None:
            words = self.words[text] = words_of(text)
        return words

    def form(self, text: str) -> _Form:
        if (form := self.forms.get(text)) is None:
            form = self.forms[text] = _form(text, self.said(text))
        return form

    def nearness(self, question: tuple[str, ...], texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Shape (texts, words of the question)."""
        if question not in self.near:
            self.near[question] = Nearness(question), {}
        near, rows = self.near[question]
        rows.update({text: near.rows(spoken(text, self.said(text))) for text in texts if text not in rows})
        return near.best([rows[text] for text in texts])


class _Form(NamedTuple):
    """How something is said."""

    num_words: int
    asks: bool
    when: bool
    counts: bool
    who: bool
    why: bool
    first: bool


def _asks(text: str) -> bool:
    return ("?" in text or "？" in text) and bool(_ASKS.search(text))


def _form(text: str, words: Sequence[str]) -> _Form:
    each = frozenset(words)
    digits = [word for word in each if word[0].isdigit()]
    return _Form(
        len(words),
        _asks(text),
        not each.isdisjoint(_TIME) or any(map(_YEAR.match, digits)),
        not each.isdisjoint(_NUMBER) or bool(digits),
        bool(_NAME.search(text)),
        not each.isdisjoint(_REASON),
        not each.isdisjoint(_FIRST),
    )


def features(signals: Signals, kept: Kept | None = None) -> tuple[npt.NDArray[np.float64], tuple[str, ...]]:
    """Shape (candidates, features), and the features' names; rows as `signals.read`. `kept`: taken from, and added to."""
    named = _Pool(signals, kept or Kept()).all()
    names = tuple(named)
    if not signals.read:
        return np.zeros((0, len(names))), names
    return np.nan_to_num(np.stack([named[name] for name in names], axis=1)), names


class _Pool:
    """One question's candidates, column by column."""

    def __init__(self, signals: Signals, kept: Kept) -> None:
        self.signals, self.kept = signals, kept
        self.read = signals.read
        self.places = [one.place for one in signals.read]
        hits = signals.hits
        self.best = sum(max(words.values(), default=0.0) for words in hits.terms) or 1.0
        """What a message with every word at its best would score."""
        self.words = _Line(hits.terms, self.places)
        floor = min(hits.turn.values(), default=0.0)
        self.near = _Line([{place: cosine - floor for place, cosine in hits.turn.items()}], self.places)
        floor = min(hits.context.values(), default=0.0)
        self.near_context = _Line([{place: cosine - floor for place, cosine in hits.context.items()}], self.places)

    def all(self) -> dict[str, Column]:
        return {**self.lexical(), **self.alike(), **self.dense(), **self.passage(), **self.form(), **self.people(),
                **self.time(), **self.facts(), **self.further()}  # fmt: skip

    # ---- words

    def lexical(self) -> dict[str, Column]:
        at = {step: self.words.at(step) / self.best for step in range(-3, 2)}
        """Shape (candidates, terms) each: what the turn `step` away scores for each word."""
        turn = at[0].sum(axis=1)
        context = np.maximum.reduce([at[0], 0.9 * at[-1], 0.8 * at[-2], 0.7 * at[-3]]).sum(axis=1)
        pair = np.maximum(at[0], 0.9 * at[-1]).sum(axis=1)
        reply = np.maximum(at[0], 0.9 * at[1]).sum(axis=1)
        names = _Line(self.signals.hits.names, self.places).at(0).sum(axis=1)
        return {
            "words_z": z(turn), "words": turn,
            "words_share": (at[0] > 0).mean(axis=1) if at[0].shape[1] else np.zeros(len(self.read)),
            "words_context_z": z(context), "words_context": context,
            "words_pair_z": z(pair), "words_reply_z": z(reply),
            "words_before": z(at[-1].sum(axis=1)), "words_before2": z(at[-2].sum(axis=1)),
            "words_before3": z(at[-3].sum(axis=1)), "words_after": z(at[1].sum(axis=1)), "names_said": z(names),
        }  # fmt: skip

    def alike(self) -> dict[str, Column]:
        """The question's words in words of like meaning, said here or in up to three turns before."""
        question = asked(self.signals.question)
        texts = {place: around.text for place, around in self.signals.around.items()}
        texts |= {one.place: f"{one.text} {one.captions}" if one.captions else one.text for one in self.read}
        row = {place: number for number, place in enumerate(texts)}
        near = self.kept.nearness(question, list(texts.values()))
        near = np.vstack([near, np.zeros((1, len(question)), dtype=np.float32)])

        def at(step: int) -> npt.NDArray[np.float64]:
            return np.asarray(near[[row.get((session, index + step), -1) for session, index in self.places]], dtype=np.float64)

        turn, before, after = at(0), at(-1), at(1)
        weights = rarity(turn)
        context = np.maximum.reduce([turn, 0.9 * before, 0.8 * at(-2), 0.7 * at(-3)])
        return {
            "alike": turn @ weights, "alike_z": z(turn @ weights), "alike_close_z": z(turn**2 @ weights),
            "alike_pair_z": z(np.maximum(turn, 0.9 * before) ** 2 @ weights), "alike_context_z": z(context**2 @ weights),
            "alike_before": z(before**2 @ weights), "alike_after": z(after**2 @ weights),
        }  # fmt: skip

    # ---- meaning

    def dense(self) -> dict[str, Column]:
        turn, context = self.cosines
        return {
            "turn_z": z(turn), "context_z": z(context),
            "turn_before": z(self.near.at(-1)[:, 0]), "turn_after": z(self.near.at(1)[:, 0]),
            "context_after": z(self.near_context.at(1)[:, 0]),
            "context_after3": z(self.near_context.at(3)[:, 0]),
        }  # fmt: skip

    @cached_property
    def cosines(self) -> tuple[Column, Column]:
        turn = np.array([one.turn[0] if one.turn and one.turn[0] is not None else np.nan for one in self.read])
        context = np.array([one.context if one.context is not None else np.nan for one in self.read])
        return filled(turn), filled(context)

    # ---- the passage it stands in

    def passage(self) -> dict[str, Column]:
        made: dict[str, Column] = {}
        for width in (2, 5, 10, 20):
            made[f"words_within{width}"] = z(self.words.kernel(width))
            made[f"turn_within{width}"] = z(self.near.kernel(width))
        for width in (5, 20):
            made[f"words_cover{width}"] = z(self.words.cover(width))
        made["words_session"] = z(self.words.session(1))
        made["turn_session"] = z(self.near.session(1))
        made["words_session3"] = z(self.words.session(3))
        made["turn_session3"] = z(self.near.session(3))
        made["context_session"] = z(self.near_context.session(1))
        return made

    # ---- how it is said

    def form(self) -> dict[str, Column]:
        forms = [self.kept.form(one.text) for one in self.read]
        columns = np.array(forms, dtype=np.float64).reshape(-1, len(_Form._fields)).T
        num_words, asks, when, count, who, why, first = columns
        length = np.log1p(num_words)
        asked_before = np.array([float(_asks(self._text(-1, place))) for place in self.places])
        question = self.signals.question
        flag = {kind: float(bool(find.search(question))) for kind, find in
                {"when": _WHEN, "count": _HOW_MANY, "who": _WHERE_WHO, "why": _WHY}.items()}  # fmt: skip
        tells = {"when": when, "count": count, "who": who, "why": why}
        turn = z(self.cosines[0])
        return {
            "length": length, "length_z": z(length), "asks": asks, "asked_before": asked_before,
            "asked_and_near_before": asked_before * z(self.near.at(-1)[:, 0]),
            "asks_and_near": asks * turn, "shows": np.array([float(bool(one.captions)) for one in self.read]),
            "first_person": first,
            **{f"tells_{kind}": column for kind, column in tells.items()},
            **{f"{kind}_told": flag[kind] * column for kind, column in tells.items()},
        }  # fmt: skip

    # ---- who and when

    def people(self) -> dict[str, Column]:
        by = np.array([float(one.by) for one in self.read])
        to = np.array([float(one.to) for one in self.read])
        before = [self.signals.around.get((session, index - 1)) for session, index in self.places]
        same = np.array([
            float(b is not None and b.speaker_id is not None and b.speaker_id == one.speaker_id)
            for b, one in zip(before, self.read, strict=True)
        ])  # fmt: skip
        return {"by": by, "to": to, "neither": (1 - by) * (1 - to) * float(self.signals.named), "goes_on": same}

    def time(self) -> dict[str, Column]:
        said = np.array([float(one.said_at) for one in self.read])
        within, after = np.zeros(len(self.read)), np.zeros(len(self.read))
        for window in self.signals.windows:
            start, end = window.start.timestamp(), window.end.timestamp()
            within = np.maximum(within, (said >= start) & (said < end))
            days = (said - end) / _DAY
            after = np.maximum(after, np.where(days >= 0, np.exp(-np.maximum(days, 0.0) / _WEEK), 0.0))
        return {"in_window": within, "soon_after": after * (within == 0)}

    # ---- what was taken from it, and what a round before found

    def facts(self) -> dict[str, Column]:
        hits = self.signals.hits
        words = np.array([hits.fact_words.get(one.id, 0.0) for one in self.read])
        least = min(hits.fact_turn.values(), default=0.0) - _NO_FACT
        near = np.array([hits.fact_turn.get(one.id, least) for one in self.read])
        return {"fact_words_z": z(words), "fact_turn_z": z(near)}

    def further(self) -> dict[str, Column]:
        """Nearness to the question with the words of what was found before; zero in a first round."""
        near = filled(np.array([one.turn[1] if len(one.turn) > 1 and one.turn[1] is not None else np.nan for one in self.read]))
        return {"further_z": z(near)}

    def _text(self, step: int, place: Place) -> str:
        around = self.signals.around.get((place[0], place[1] + step))
        return around.text if around else ""


class _Line:
    """Scores along the sessions of the candidates, zero where nothing was found."""

    def __init__(self, found: Sequence[Words], places: Sequence[Place]) -> None:
        number = {session: place for place, session in enumerate(dict.fromkeys(session for session, _ in places))}
        self._of = np.array([number[session] for session, _ in places], dtype=int)
        hits = [
            (number[session], index, term, score)
            for term, words in enumerate(found)
            for (session, index), score in words.items()
            if session in number
        ]
        sessions, indices, terms = np.array([hit[:3] for hit in hits], dtype=int).reshape(-1, 3).T
        sessions, indices = np.append(sessions, self._of), np.append(indices, [index for _, index in places]).astype(int)
        stand, length = _laid_out(sessions, indices)
        self._scores = np.zeros((length, max(1, len(found))))
        self._scores[stand[: len(hits)], terms] = [score for *_, score in hits]
        self._sums = self._scores.sum(axis=1)
        self._near = stand[len(hits) :, None] + np.arange(-REACH, REACH + 1)
        self._ends = np.zeros(len(number), dtype=int)
        np.maximum.at(self._ends, sessions, indices)
        self._hit, first = np.unique(stand[: len(hits)], return_index=True)
        self._hit_of = sessions[first]

    def at(self, step: int) -> npt.NDArray[np.float64]:
        """Shape (candidates, terms): the scores of the turn `step` further on."""
        return np.asarray(self._scores[self._near[:, REACH + step]])

    def kernel(self, width: int) -> Column:
        """Triangular sum of all terms within `width` turns, the candidate's own turn left out."""
        weights = self._fading(width)
        weights[REACH] = 0.0
        return np.asarray(self._sums[self._near] @ weights)

    def cover(self, width: int) -> Column:
        """For each term the best within `width` turns, added up: is the passage about all of the question?"""
        within = slice(REACH - width, REACH + width + 1)
        near = self._scores[self._near[:, within]] * self._fading(width)[within, None]
        return np.asarray(near.max(axis=1).sum(axis=1))

    def session(self, top: int) -> Column:
        """Mean of the session's `top` best turns."""
        sums, means = self._sums[self._hit], np.zeros(len(self._ends))
        best = np.lexsort((-sums, self._hit_of))
        place = np.arange(len(best)) - np.searchsorted(self._hit_of[best], self._hit_of[best])
        np.add.at(means, self._hit_of[best][place < top], sums[best][place < top])
        return np.asarray((means / np.minimum(self._ends + 1, top))[self._of])

    def _fading(self, width: int) -> Column:
        return np.maximum(0.0, 1.0 - np.abs(np.arange(-REACH, REACH + 1)) / (width + 1))


def _laid_out(sessions: npt.NDArray[np.int_], indices: npt.NDArray[np.int_]) -> tuple[npt.NDArray[np.int_], int]:
    """Where on one line each place stands, and its length: as far apart as they are up to REACH, and else just beyond it. A
    line of all turns would grow with the longest session."""
    order = np.lexsort((indices, sessions))
    steps = np.minimum(np.diff(indices[order], prepend=0), REACH + 1)
    steps[np.diff(sessions[order], prepend=-1) != 0] = REACH + 1
    stand = np.empty_like(indices)
    stand[order] = np.cumsum(steps)
    return stand, int(steps.sum()) + REACH + 1


def z(column: Column) -> Column:
    """In standard deviations from the pool's mean; 0 where all are alike."""
    if not len(column):
        return column
    spread = float(column.std())
    return np.zeros_like(column) if spread < 1e-9 else (column - column.mean()) / spread


def filled(column: Column) -> Column:
    """What is not there counts as the least of the pool."""
    known = column[~np.isnan(column)]
    return np.where(np.isnan(column), known.min() if len(known) else 0.0, column)
