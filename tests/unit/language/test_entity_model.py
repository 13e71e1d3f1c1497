"""What is spoken of, by a language model: whatever it writes, what is kept fulfils the contract; what breaks off goes on."""

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
from service.language.entity_model import EntityModel, EntityModelConfig
from service.language.prompts import ENTITIES
from service.memory.left_brain.mentions import NounReader, SpokenTurn, mentions_of, names_something, voted
from service.types.entities import EntityType, Mention
from tests import models
from tests.chat_server import ChatServer, Reply, a_chat, serving
from tests.unit.language.talk import read
from tests.unit.language.test_fact_model import a_talk
from tests.unit.memory.left_brain.contract import (
    keeps_the_contract,
    reads_nothing_into_empty_talk,
    tells_nothing_of_what_others_read,
)

TALK = a_talk(
    "The surprise for Ruth is a trip to Cork.",
    "I broke the blue teapot that Nora got from her mother.",
    "He photographed two telescopes and the kitchens.",
    "Mhm.",
    "My sister works for the city council in Graz.",
)


def a_reader(server: ChatServer, folder: Path, config: EntityModelConfig | None = None, **chat: Any) -> EntityModel:
    return EntityModel(a_chat(server, folder, **chat), names_something, voted, config)


def as_nouns(body: dict[str, Any]) -> dict[str, Any]:
    """A model that reads as well as the rules do, and counts from the numbers it is shown."""
    assert body["messages"][0]["content"] == ENTITIES
    shown = read(body)["turns"]
    assert all(set(turn) == {"n", "text"} for turn in shown), "no ids, no names of who speaks"
    said = [SpokenTurn(str(turn["n"]), turn["text"], None, "all") for turn in shown]
    found = mentions_of(said, models.parser())
    return {"entities": [an_entity(int(n), m.surface, m.kind, m.name, m.type) for n, each in found.items() for m in each]}


def an_entity(turn: int, words: str, kind: str = "noun", name: str = "", type: str = "thing") -> dict[str, Any]:
    return {"turn": turn, "words": words, "kind": str(kind), "name": name or words.lower(), "type": str(type)}


async def found_in(folder: Path, text: str, *given: Mapping[str, Any]) -> tuple[tuple[Mention, ...], Counter[str]]:
    with serving(lambda body: {"entities": list(given)}) as server:
        dropped = Counter[str]()
        return (await a_reader(server, folder)(a_talk(text), dropped)).get("m0", ()), dropped


async def test_a_model_that_reads_as_the_rules_do_gives_what_they_give(tmp_path: Path) -> None:
    rules = NounReader(models.parser())
    with serving(as_nouns) as server:
        reader = a_reader(server, tmp_path)
        ours, theirs = await keeps_the_contract(rules, TALK), await keeps_the_contract(reader, TALK)
        assert {id: set(each) for id, each in theirs.items()} == {id: set(each) for id, each in ours.items()}
        for one in (rules, reader):
            await reads_nothing_into_empty_talk(one, TALK[0])
            await tells_nothing_of_what_others_read(one, TALK)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (an_entity(1, "castle"), "words that nobody said"),
        (an_entity(1, "scope"), "words that nobody said"),  # part of a word
        (an_entity(1, ""), "words that nobody said"),
        (an_entity(9, "telescopes"), "of no turn that was shown"),
        (an_entity(0, "telescopes"), "of no turn that was shown"),
        (an_entity(1, "thing"), "no entity"),
        (an_entity(1, "mother"), "no entity"),
        (an_entity(1, "her", "name"), "no entity"),
        (an_entity(1, "two telescopes from her mother on a thing for Ruth"), "no entity"),  # longer than a name is
    ],
)
async def test_what_nobody_said_and_what_is_no_entity_is_dropped(given: dict[str, Any], why: str, tmp_path: Path) -> None:
    text = "Two telescopes from her mother on a thing for Ruth."
    found, dropped = await found_in(tmp_path, text, given, an_entity(1, "Ruth", "name", type="person"))
    assert [(m.name, m.type) for m in found] == [("ruth", EntityType.PERSON)] and dropped == {why: 1}


async def test_a_dictionary_form_is_taken_where_it_may_be_one_of_the_words_said(tmp_path: Path) -> None:
    given = (
        an_entity(1, "Telescopes", name="telescope"),
        an_entity(1, "mice", name="rodents of the family"),
        an_entity(1, "city councils", name="city council"),
        an_entity(1, "Ruth", "name", "Ruth Keller", "person"),
    )
    found, dropped = await found_in(tmp_path, "Telescopes, mice, city councils, Ruth.", *given)
    assert [m.name for m in found] == ["telescope", "mice", "city council", "ruth"] and not dropped


async def test_turns_of_other_readers_are_not_shown_together_and_what_was_answered_is_kept(tmp_path: Path) -> None:
    turns = (*a_talk("My piano.", "Your organ."), *a_talk("The attic."))
    mixed = tuple(replace(turn, message_id=f"m{i}", audience="ab"[i // 2]) for i, turn in enumerate(turns))
    with serving(as_nouns) as server:
        reader = a_reader(server, tmp_path)
        first = await reader(mixed)
        shown = [[turn["text"] for turn in read(body)["turns"]] for body in server.asked]
        assert sorted(shown) == [["My piano.", "Your organ."], ["The attic."]]
        asked = len(server.asked)
        assert await a_reader(server, tmp_path)(mixed) == first and len(server.asked) == asked


async def test_what_breaks_off_goes_on_and_a_budget_holds(tmp_path: Path) -> None:
    talk = a_talk("My piano.", "My telescope.", "My teapot.", "My attic.")
    with serving(as_nouns) as server:
        reader = a_reader(server, tmp_path, EntityModelConfig(batch=1, at_once=1))

        def refusing_the_third(body: dict[str, Any]) -> dict[str, Any]:
            if len(server.asked) == 2:
                server.instead.append(Reply(401, code="invalid_api_key"))
            return as_nouns(body)

        server.model = refusing_the_third
        with pytest.raises(ChatRefused):
            await reader(talk)
        asked = len(server.asked)
        assert len(await reader(talk)) == 4 and len(server.asked) == asked + 2, "what was answered is not asked for again"
        with pytest.raises(TokensSpent):
            await a_reader(server, tmp_path / "other", daily=10)(talk)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ChatServer, EntityModel]]:
    with serving() as server:
        yield server, a_reader(server, tmp_path_factory.mktemp("hostile"))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    given_entities=st.lists(
        st.fixed_dictionaries(
            {
                "turn": st.integers(-1, 4),
                "words": st.one_of(st.text(max_size=12), st.sampled_from(["trip", "Ruth", "the", "blue teapot", "Cork."])),
                "kind": st.sampled_from(["name", "noun"]),
                "name": st.text(max_size=12),
                "type": st.sampled_from([type.value for type in EntityType]),
            }
        ),
        max_size=6,
    )
)
async def test_whatever_it_writes_what_is_kept_fulfils_the_contract(
    hostile: tuple[ChatServer, EntityModel], given_entities: list[dict[str, Any]]
) -> None:
    server, reader = hostile
    server.model = lambda body: {"entities": given_entities}
    await keeps_the_contract(reader, tuple(replace(turn, space=None) for turn in TALK[:3]))


async def test_a_model_that_fits_nothing_is_said_to(tmp_path: Path) -> None:
    with serving(lambda body: {"entities": [{"turn": "first"}]}) as server, pytest.raises(ChatAnswerUnfit):
        await a_reader(server, tmp_path)(TALK)
