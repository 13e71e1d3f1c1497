"""Feelings by a language model: whatever it writes, what is kept fulfils the contract; what breaks off goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.language.chat import ChatAnswerUnfit, ChatRefused
from service.language.chat_ledger import TokensSpent
from service.language.feeling_model import FeelingModel, FeelingModelConfig
from service.language.prompts import FEELINGS
from service.memory.right_brain.affect import by_words
from service.memory.right_brain.feelings import marks, tells_whom
from service.memory.right_brain.reader import LexiconReader
from service.types.affect import Aspect, Emotion, FeltTurn, SaidFeelings
from service.types.facts import ADDRESSEE
from service.types.parsing import Parser
from tests import models
from tests.chat_server import ChatServer, Reply, a_chat, serving
from tests.unit.language.talk import read
from tests.unit.memory.right_brain.contract import (
    keeps_the_contract,
    reads_nothing_into_empty_talk,
    tells_nothing_of_what_others_say,
)


def turns_of(*texts: str) -> tuple[FeltTurn, ...]:
    return tuple(FeltTurn(f"m{n}", text, "en", "ana's") for n, text in enumerate(texts))


TALK = turns_of(
    "I love hiking.",
    "I'm so angry with you because you are late.",
    "I feel lonely.",
    "Mhm.",
    "I no longer like coffee.",
    "I'm anxious about the exam.",
)


def a_reader(server: ChatServer, folder: Path, config: FeelingModelConfig | None = None, **chat: Any) -> FeelingModel:
    return FeelingModel(a_chat(server, folder, **chat), tells_whom, config)


def a_mark(aspect: str = "attitude", **more: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {"emotion": None, "polarity": 0.6, "intensity": 0.6, "target": None, "to_addressee": False}
    return {"aspect": aspect, **plain, "cause": None, "changed": False, **more}


def a_turn(turn: int, *given: Mapping[str, Any], valence: float = 0.2, arousal: float = 0.5) -> dict[str, Any]:
    return {"turn": turn, "valence": valence, "arousal": arousal, "marks": list(given)}


def as_the_lexicon(body: dict[str, Any]) -> dict[str, Any]:
    """A model that reads as well as the lexicon does."""
    assert body["messages"][0]["content"] == FEELINGS
    shown = read(body)["turns"]
    assert all(set(turn) == {"n", "text"} for turn in shown), "no ids, no names of who speaks"
    told = []
    for turn, sentences in zip(shown, models.parser()([turn["text"] for turn in shown]), strict=True):
        said = by_words(sentences, marks(sentences))
        given = [
            a_mark(
                m.aspect.value, emotion=m.emotion and m.emotion.value, polarity=m.polarity, intensity=m.intensity,
                target=None if m.target == ADDRESSEE else m.target, to_addressee=m.target == ADDRESSEE, cause=m.cause,
                changed=m.changed,
            )
            for m in said.marks
        ]  # fmt: skip
        told += [a_turn(turn["n"], *given, valence=said.valence, arousal=said.arousal)] if given or said.valence else []
    return {"turns": told}


def kept_in(folder: Path) -> list[Path]:
    return list((folder / "chat").glob("*/*"))


async def the_parser() -> Parser:
    return models.parser()


async def found_in(folder: Path, text: str, *given: Mapping[str, Any]) -> tuple[SaidFeelings, Counter[str]]:
    with serving(lambda body: {"turns": list(given)}) as server:
        dropped = Counter[str]()
        return (await a_reader(server, folder)(turns_of(text), dropped))["m0"], dropped


async def test_a_model_that_reads_as_the_lexicon_does_gives_what_it_gives(tmp_path: Path) -> None:
    lexicon = LexiconReader(the_parser)
    with serving(as_the_lexicon) as server:
        reader = a_reader(server, tmp_path)
        assert await keeps_the_contract(reader, TALK) == await keeps_the_contract(lexicon, TALK)
        for one in (lexicon, reader):
            await reads_nothing_into_empty_talk(one)
            await tells_nothing_of_what_others_say(one, TALK)


HIKING = a_mark(target="hiking")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (a_mark(target="sailing"), "words that nobody said"),
        (a_mark(target="hik"), "words that nobody said"),  # part of a word
        (a_mark(target="it"), "liked or said to be nothing"),
        (a_mark(), "liked or said to be nothing"),
        (a_mark("self", to_addressee=True), "liked or said to be nothing"),
        (a_mark(target="hiking", emotion="joy"), "a feeling without emotion, or an emotion of none"),
        (a_mark("feeling", target="hiking"), "a feeling without emotion, or an emotion of none"),
        (a_mark(target="hiking", intensity=1.5), "out of range"),
        (a_mark(target="hiking", intensity=0), "out of range"),
        (a_mark(target="hiking", polarity=-2), "out of range"),
        (a_mark(target="hiking", polarity=0), "neither for nor against"),
    ],
)
async def test_what_nobody_said_and_what_does_not_fit_is_dropped(given: dict[str, Any], why: str, tmp_path: Path) -> None:
    said, dropped = await found_in(tmp_path, "I love hiking with Ben, it is so quiet.", a_turn(1, given, a_mark(target="Ben")))
    assert [m.target for m in said.marks] == ["Ben"] and dropped == {why: 1}


async def test_of_no_turn_shown_or_out_of_range_it_is_as_if_nothing_was_said(tmp_path: Path) -> None:
    said, dropped = await found_in(tmp_path, "I love hiking.", a_turn(7, HIKING), a_turn(1, HIKING, valence=3.0))
    assert said == SaidFeelings(0.0, 0.4, ()) and dropped == {"of no turn that was shown": 1, "out of range": 1}


async def test_causes_and_targets_are_as_they_were_said(tmp_path: Path) -> None:
    given = a_mark("feeling", emotion="anger", polarity=-0.8, intensity=0.9, target="the  Dentist.", cause="he  was late")
    said, _ = await found_in(tmp_path, "I'm angry with the dentist, he was late.", a_turn(1, given, given))
    (mark,) = said.marks
    assert (mark.aspect, mark.emotion, mark.target, mark.cause) == (Aspect.FEELING, Emotion.ANGER, "Dentist", "he was late")
    made_up = {**given, "cause": "he hates me", "target": None}
    said, _ = await found_in(tmp_path / "other", "I'm angry with the dentist, he was late.", a_turn(1, made_up))
    assert [(m.target, m.cause) for m in said.marks] == [(None, None)], "a reason that nobody gave is none"


async def test_turns_of_others_are_not_shown_together_and_nothing_is_kept_beside_the_graph(tmp_path: Path) -> None:
    mixed = tuple(replace(turn, audience="ab"[n % 2]) for n, turn in enumerate(TALK))
    with serving(as_the_lexicon) as server:
        reader = a_reader(server, tmp_path, FeelingModelConfig(at_once=1))

        def refusing_the_second(body: dict[str, Any]) -> dict[str, Any]:
            if len(server.asked) == 1:
                server.instead.append(Reply(401, code="invalid_api_key"))
            return as_the_lexicon(body)

        server.model = refusing_the_second
        with pytest.raises(ChatRefused):
            await reader(mixed)
        asked = len(server.asked)
        found = await reader(mixed)
        assert list(found) == [turn.message_id for turn in mixed] and len(server.asked) == asked + 2
        assert not kept_in(tmp_path), "consent withdrawn could not reach it there"
        shown = [{turn["text"] for turn in read(body)["turns"]} for body in (server.asked[0], server.asked[-1])]
        assert shown == [{turn.text for turn in TALK[::2]}, {turn.text for turn in TALK[1::2]}]
        with pytest.raises(TokensSpent):
            await a_reader(server, tmp_path / "other", daily=10)(mixed)


async def test_a_turn_that_it_cannot_read_tells_nothing_and_too_many_are_said(tmp_path: Path) -> None:
    def not_the_third(body: dict[str, Any]) -> Any:
        return "no JSON" if "lonely" in str(read(body)) else as_the_lexicon(body)

    with serving(not_the_third) as server:
        dropped = Counter[str]()
        found = await a_reader(server, tmp_path)(TALK, dropped)
        assert set(found) == {turn.message_id for turn in TALK} and found["m2"].marks == () and dropped["not read"] == 1
        dropped["not read"] = 50  # of the turns before these
        assert set(await a_reader(server, tmp_path)(TALK, dropped)) == set(found) and dropped["not read"] == 51
        server.model = lambda body: "no JSON"
        with pytest.raises(ChatAnswerUnfit):
            await a_reader(server, tmp_path / "other")(TALK)


TEXTS = st.one_of(st.none(), st.sampled_from(["hiking", "you", "it", "the exam", "the", "{addressee}"]), st.text(max_size=9))
NUMBERS = st.floats(-2, 2, allow_nan=False)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ChatServer, FeelingModel]]:
    with serving() as server:
        yield server, a_reader(server, tmp_path_factory.mktemp("hostile"))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    told=st.lists(
        st.builds(
            lambda turn, given, valence, arousal: a_turn(turn, *given, valence=valence, arousal=arousal),
            st.integers(-1, 8),
            st.lists(
                st.fixed_dictionaries(
                    {
                        "aspect": st.sampled_from([aspect.value for aspect in Aspect]),
                        "emotion": st.none() | st.sampled_from([emotion.value for emotion in Emotion]),
                        "polarity": NUMBERS,
                        "intensity": NUMBERS,
                        "target": TEXTS,
                        "to_addressee": st.booleans(),
                        "cause": TEXTS,
                        "changed": st.booleans(),
                    }
                ),
                max_size=4,
            ),
            NUMBERS,
            NUMBERS,
        ),
        max_size=4,
    )
)
async def test_whatever_it_writes_what_is_kept_fulfils_the_contract(
    hostile: tuple[ChatServer, FeelingModel], told: list[dict[str, Any]]
) -> None:
    server, reader = hostile
    server.model = lambda body: {"turns": told}
    await keeps_the_contract(reader, TALK)
