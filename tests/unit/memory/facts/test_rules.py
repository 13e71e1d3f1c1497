"""Facts by rules: the contract, the turns labelled by hand, and sentences one by one."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.language.parser import SpacyParser
from service.memory.facts.rules import RUN_TOGETHER, UNREAD, RuleExtractor
from service.memory.facts.words import check_words
from service.types.facts import FactKind, FactTurn
from tests.unit.memory.facts.contract import (
    does_not_know_the_voices,
    keeps_the_contract,
    reads_nothing_into_empty_talk,
    uses_only_what_it_may,
)
from tests.unit.memory.facts.labelled import Score, Session, score, sessions

SAID = datetime(2023, 5, 17, 10, 0, tzinfo=UTC)  # a Wednesday
LEAST_PRECISION = 0.90
LEAST_RECALL = 0.80


@pytest.fixture(scope="module")
def extractor() -> RuleExtractor:
    return RuleExtractor(SpacyParser.load())


# ---- the labelled turns


def test_two_hundred_turns_are_labelled_and_half_are_held_out() -> None:
    held, seen = ([s for s in sessions() if s.held_out is out] for out in (True, False))
    assert sum(len(s.turns) for s in held) >= 100
    assert sum(len(s.turns) for s in seen) >= 100


@pytest.mark.parametrize("held_out", [False, True], ids=["seen", "held out"])
def test_nine_facts_in_ten_are_right(extractor: RuleExtractor, held_out: bool) -> None:
    total = Score()
    for session in sessions():
        if session.held_out is held_out:
            score(session, extractor.extract(session.turns), total)
    assert total.precision >= LEAST_PRECISION, total.wrong
    assert total.recall >= LEAST_RECALL, total.missed


@pytest.mark.parametrize("session", sessions(), ids=lambda s: s.turns[0].message_id)
async def test_each_labelled_session_keeps_the_contract(extractor: RuleExtractor, session: Session) -> None:
    await keeps_the_contract(extractor, session.turns)
    await does_not_know_the_voices(extractor, session.turns)


async def test_the_contract_holds_without_anything_before(extractor: RuleExtractor) -> None:
    for session in sessions()[:3]:
        await uses_only_what_it_may(extractor, session.turns)
    await reads_nothing_into_empty_talk(extractor, turn("Hi."))


def test_words_are_from_the_evidence_throughout(extractor: RuleExtractor) -> None:
    words, strange = 0, []
    for session in sessions():
        by_id = {t.message_id: t for t in session.turns}
        for fact in extractor.extract(session.turns):
            check = check_words(fact, [by_id[id] for id in fact.evidence])
            words, strange = words + check.words, [*strange, *check.strange]
    assert len(strange) <= 0.01 * words, strange


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=80), st.sampled_from([t.text for s in sessions() for t in s.turns])), max_size=6))
async def test_any_turns_keep_the_contract(extractor: RuleExtractor, texts: list[str]) -> None:
    turns = tuple(turn(text, id=f"m{n}", voice="abc"[n % 3], may_use=min(n, 3)) for n, text in enumerate(texts))
    await keeps_the_contract(extractor, turns)


def test_fifty_turns_a_second_are_read_on_one_core(extractor: RuleExtractor) -> None:
    turns = [t for s in sessions() for t in s.turns]
    started = time.process_time()
    for session in sessions():
        extractor.extract(session.turns)
    assert len(turns) / (time.process_time() - started) >= 50


# ---- one by one


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("I'm a nurse.", "{speaker} is a nurse."),
        ("I am tired and I have a headache.", ["{speaker} is tired.", "{speaker} has a headache."]),
        ("I love tea and hate coffee.", "{speaker} loves tea and hates coffee."),
        ("Paul and I are moving to Leeds.", "Paul and {speaker} are moving to Leeds."),
        ("We've bought a boat.", "{speaker} and others have bought a boat."),
        ("You've lost your keys, Tom.", "{addressee} has lost {addressee}'s keys."),
        ("I carried the box upstairs.", "{speaker} carried the box upstairs."),
        ("I didn't see the film.", "{speaker} didn't see the film."),
        ('Anna said "I hate my job".', 'Anna said "I hate my job".'),
        ("My brother lost his wallet.", "{speaker}'s brother lost his wallet."),
        ("The {red} parcel arrived.", "The (red) parcel arrived."),
        ("I went there yesterday at 7 pm.", "{speaker} went there at 19:00 on 16 May 2023."),
        ("Yesterday I met the mayor.", "On 16 May 2023 {speaker} met the mayor."),
        ("I start in two weeks.", "{speaker} starts in the week of 29 May 2023."),
        ("Tomorrow's lecture is cancelled.", "18 May 2023's lecture is cancelled."),
        ("The shop is closed until Monday.", "The shop is closed until Monday, 22 May 2023."),
        ("Please water the plants on Friday.", "{speaker} asks {addressee} to water the plants on Friday, 19 May 2023."),
        ("Don't forget to lock the shed.", "{speaker} asks {addressee} not to forget to lock the shed."),
        ("Where did you buy the lamp?", "{speaker} asks: where did {addressee} buy the lamp?"),
        ("How're you getting home?", "{speaker} asks: how is {addressee} getting home?"),
        ("The soup is salty, I apologise.", ["The soup is salty.", "{speaker} apologises."]),
        ("I moved here a few years ago.", "{speaker} moved here in the time from 1 January 2018 to 31 December 2021."),
        ("The repair is due on the thirty-first.", "The repair is due on 31 May 2023."),
        ("I sold my bike, Joanna.", "{speaker} sold {speaker}'s bike."),
        ("Hey Joanna, I sold my bike.", "{speaker} sold {speaker}'s bike."),
        ("The dog hurt itself, didn't it?", "The dog hurt itself."),
    ],
)
def test_a_sentence_becomes_a_statement(extractor: RuleExtractor, text: str, statement: str | list[str]) -> None:
    wanted = [statement] if isinstance(statement, str) else statement
    assert [fact.statement for fact in extractor.extract([turn(text)])] == wanted


@pytest.mark.parametrize(
    ("text", "kind", "attribute", "value"),
    [
        ("I live in Porto now.", FactKind.STATEMENT, "lives in", "Porto"),
        ("I moved to Lisbon in March.", FactKind.STATEMENT, "lives in", "Lisbon"),
        ("I work at the harbour.", FactKind.STATEMENT, "works at", "the harbour"),
        ("I work as a tax adviser two days a week.", FactKind.STATEMENT, "job", "tax adviser"),
        ("My favorite band is Pulp these days.", FactKind.PREFERENCE, "favourite band", "Pulp"),
        ("Green is my favourite colour.", FactKind.PREFERENCE, "favourite colour", "Green"),
        ("I really hate mushrooms.", FactKind.PREFERENCE, "feeling about mushrooms", "hates"),
        ("My phone number is 555 0100.", FactKind.STATEMENT, "phone number", "555 0100"),
        ("I can't stand loud music.", FactKind.PREFERENCE, "feeling about loud music", "can't stand"),
        ("I'll call the plumber tomorrow.", FactKind.COMMITMENT, None, None),
        ("I promise to be on time.", FactKind.COMMITMENT, None, None),
        ("I won't sell the house.", FactKind.PLAN, None, None),
        ("I'm going to sell the house.", FactKind.PLAN, None, None),
        ("I speak a little Dutch.", FactKind.STATEMENT, None, None),
        ("My sister lives in Porto.", FactKind.STATEMENT, None, None),
        ("I lived in Porto.", FactKind.STATEMENT, None, None),
    ],
)
def test_a_fact_has_its_kind_and_what_it_supersedes(
    extractor: RuleExtractor, text: str, kind: FactKind, attribute: str | None, value: str | None
) -> None:
    (fact,) = extractor.extract([turn(text)])
    assert (fact.kind, fact.attribute, fact.value) == (kind, attribute, value)


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        (["a: Can you call the bank, Tom?", "b: Sure, no problem."], "{speaker} will call the bank."),
        (["a: Are you allergic to nuts?", "b: No."], "{speaker} is not allergic to nuts."),
        (["a: Where do you live?", "b: In a small house by the lake."], "{speaker} lives in a small house by the lake."),
        (["a: My mother is ill.", "b: Is she in hospital?"], "{speaker} asks: is {addressee}'s mother in hospital?"),
        (["a: I bought a kayak.", "a: It has a hole."], "The kayak has a hole."),
        (["a: The VPN is down.", "b: IT will restart it."], "IT will restart the VPN."),
        (["a: Did you post the letters?", "b: I posted them to Rome."], "{speaker} posted the letters to Rome."),
        (["a: My aunt plays tennis. Her brother plays the flute."], "{speaker}'s aunt's brother plays the flute."),
    ],
)  # fmt: skip
def test_what_was_said_before_is_read_with_it(extractor: RuleExtractor, said: list[str], statement: str) -> None:
    last = extractor.extract(talk(*said))[-1]
    assert last.statement == statement
    assert last.context == (("m0",) if len(said) > 1 else ())


@pytest.mark.parametrize(
    "said",
    [
        ["a: Ben met Tom.", "a: He was late."],
        ["a: The lamp and the vase fell.", "a: It broke."],
        ["a: Your dad called.", "c: He sounded worried."],
        ["a: That was great!"],
        ["a: It's raining."],
        ["a: I'll do it."],
        ["a: My trip to Oslo is over.", "b: It was amazing."],
        ["a: Where are we?", "b: The database."],
        ["a: If the bank says yes."],
        ["a: He says that every time."],
        ["a: You never know."],
        ["a: Nate dyed his hair.", "b: I'm stoked about it, Nate."],
    ],
    ids=lambda said: said[-1],
)
def test_what_may_mean_two_things_is_left_out(extractor: RuleExtractor, said: list[str]) -> None:
    turns = talk(*said)
    assert not [fact for fact in extractor.extract(turns) if fact.source == turns[-1].message_id]


def test_of_a_zone_that_is_none_nothing_is_dated(extractor: RuleExtractor) -> None:
    (fact,) = extractor.extract([turn("I met the mayor yesterday.", zone="Mars/Base")])
    assert (fact.statement, fact.about) == ("{speaker} met the mayor yesterday.", None)


def test_other_languages_give_no_facts(extractor: RuleExtractor) -> None:
    assert extractor.extract([turn("Ich wohne in Berlin.", language="de")]) == ()
    assert extractor.extract([turn("Ich wohne jetzt wieder in der großen Stadt.")]) == ()
    assert extractor.extract([turn("我住在北京。")]) == ()


def turn(
    text: str,
    *,
    id: str = "m0",
    voice: str = "a",
    zone: str | None = None,
    language: str | None = None,
    may_use: int = 3,
) -> FactTurn:
    return FactTurn(id, voice, text, SAID, zone, language, may_use)


def talk(*said: str) -> list[FactTurn]:
    split = [line.split(": ", 1) for line in said]
    return [turn(text, id=f"m{n}", voice=voice) for n, (voice, text) in enumerate(split)]


def test_what_has_no_facts_is_counted_with_why(extractor: RuleExtractor) -> None:
    dropped = Counter[str]()
    run_together = f"I like {'very ' * 70}old cars."
    turns = [turn("Ich wohne in Graz.", language="de"), turn("I live in Graz.", id="m1"), turn(run_together, id="m2")]
    facts = extractor.extract(turns, dropped)
    assert [fact.source for fact in facts] == ["m1"]
    assert dropped == {UNREAD: 1, RUN_TOGETHER: 1}
