"""What holds of consolidation whatever was said: one occasion makes nothing, order does not matter, everything fades."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from service.memory.right_brain.consolidate import consolidate, target_key
from service.memory.right_brain.said import TARGET, description, in_words
from service.types.affect import Aspect, Emotion, Mark, Persona, PersonaKind, Shown
from service.types.facts import ADDRESSEE

BEGIN = datetime(2026, 1, 5, 18, 0, tzinfo=UTC)
MARKS = st.one_of(
    st.builds(
        Mark, st.just(Aspect.FEELING), st.floats(0.1, 1.0), st.floats(-1.0, 1.0), st.sampled_from(Emotion),
        st.sampled_from([None, "Ben", "exam"]), st.sampled_from([None, "the train was late"]),
    ),
    st.builds(
        Mark, st.sampled_from([Aspect.ATTITUDE, Aspect.SELF]), st.floats(0.1, 1.0), st.sampled_from([-0.9, -0.4, 0.0, 0.6]),
        st.none(), st.sampled_from(["tea", "dogs"]), st.none(), st.booleans(),
    ),
)  # fmt: skip
LIVES = st.lists(st.tuples(st.integers(0, 60), MARKS), max_size=25)


def shown(life: list[tuple[int, Mark]], hours: float = 24.0) -> list[Shown]:
    return [
        Shown(mark, f"m{i}", f"s{day}", BEGIN + timedelta(hours=day * hours, seconds=i), mark.target)
        for i, (day, mark) in enumerate(life)
    ]


def heard(life: list[Shown]) -> dict[str, datetime]:
    found: dict[str, datetime] = {}
    for one in sorted(life, key=lambda s: s.said_at):
        found.setdefault(one.session_id, one.said_at)
    return found


@given(LIVES)
def test_one_occasion_makes_nothing_of_anybody(life: list[tuple[int, Mark]]) -> None:
    said = shown(life, hours=0.15)  # sixty sessions in nine hours
    assert consolidate(said, heard(said), BEGIN + timedelta(days=1)) == ()


@given(LIVES, st.randoms(use_true_random=False))
def test_the_order_in_which_it_is_read_does_not_matter(life: list[tuple[int, Mark]], chance: random.Random) -> None:
    said = shown(life)
    mixed = chance.sample(said, len(said))
    now = BEGIN + timedelta(days=70)
    assert consolidate(said, heard(said), now) == consolidate(mixed, heard(said), now)


@given(LIVES)
def test_what_stays_rests_on_several_occasions_and_says_no_more_than_its_evidence(life: list[tuple[int, Mark]]) -> None:
    said = shown(life)
    turns = {one.message_id: one for one in said}
    for persona in consolidate(said, heard(said), BEGIN + timedelta(days=70)):
        least = 3 if persona.aspect is Aspect.FEELING else 2
        assert persona.num_sessions >= least and persona.support >= least
        assert 0 <= persona.intensity <= 1 and -1 <= persona.polarity <= 1
        assert persona.since < persona.last
        assert {turns[id].mark.aspect for id in persona.evidence} == {persona.aspect}
        assert {turns[id].mark.emotion for id in persona.evidence} == {persona.emotion}
        if persona.target is not None:
            assert {turns[id].target for id in persona.evidence} == {persona.target}


@given(LIVES)
def test_everything_fades(life: list[tuple[int, Mark]]) -> None:
    said, last = shown(life), 2.0
    for years in (0.3, 0.6, 1, 2, 4):
        now = BEGIN + timedelta(days=61 + 365 * years)
        strongest = max((p.intensity for p in consolidate(said, heard(said), now)), default=0.0)
        assert strongest <= last
        last = strongest
    assert last == 0.0


def test_targets_are_one_whatever_their_number_and_article() -> None:
    for words in ("dogs", "the dog", "Dogs", "my dog", "the dog's"):
        assert target_key(words) == target_key("dog")
    assert target_key("dancing") == target_key("dance") != target_key("dinner")


def test_a_persona_is_told_in_words_with_a_name_only_where_it_may_be_known() -> None:
    one = Persona(
        PersonaKind.CROSS_ENTITY, Aspect.FEELING, "person:p1", ADDRESSEE, Emotion.ANGER, -0.7, 0.7, 3, 3, BEGIN, BEGIN, ()
    )
    assert description(one) == f"is angry with {TARGET}"
    assert in_words(one, {"p1": "Ben"}) == "is angry with Ben"
    assert in_words(one, {"p1": None}) == in_words(one, {}) == "is angry with somebody"
