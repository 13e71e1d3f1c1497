from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from service.memory.profiles import ProfileConfig, profile, traits
from service.memory.statements import rendered, without_people
from service.types.facts import FactKind, KnownFact
from service.types.people import Person

ANA = Person("ana", "Ana", (), "named", datetime(2026, 5, 1, tzinfo=UTC))
BEGAN = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)


def a_fact(day: int, value: str | None, *, attribute: str | None = "home", kind: FactKind = FactKind.STATEMENT) -> KnownFact:
    words = f"{{speaker}} lives in {value}"
    at = BEGAN + timedelta(days=day)
    return KnownFact(
        f"{day}/{value}", "monday", words, kind, at, None, attribute, value, 1.0, "x-1", ("m",), "ana", ()
    )  # fmt: skip


def values(facts: tuple[KnownFact, ...]) -> list[str | None]:
    return [fact.value for fact in facts]


def test_what_was_said_last_holds_and_what_differed_before_is_its_history() -> None:
    said = [a_fact(0, "Graz"), a_fact(1, "Linz"), a_fact(2, "Graz"), a_fact(3, "graz")]
    (home,) = profile(ANA, said).background
    assert values(home.now) == ["graz"] and values(home.before) == ["Linz"]
    assert (home.since, home.num_said) == (BEGAN + timedelta(days=2), 3)


def test_two_things_said_in_one_breath_hold_both() -> None:
    (home,) = profile(ANA, [a_fact(0, "Graz"), a_fact(1, "Linz"), a_fact(1, "Wien")]).background
    assert sorted(map(str, values(home.now))) == ["Linz", "Wien"] and values(home.before) == ["Graz"]


def test_statements_about_nothing_in_particular_are_no_background() -> None:
    assert profile(ANA, [a_fact(0, None, attribute=None)]).background == ()


def test_preferences_without_an_attribute_stand_side_by_side_once_each() -> None:
    said = [a_fact(day, value, attribute=None, kind=FactKind.PREFERENCE) for day, value in ((0, "tea"), (1, "jam"), (2, "tea"))]
    assert [(values(t.now), t.num_said) for t in profile(ANA, said).preferences] == [(["tea"], 2), (["jam"], 1)]


def test_commitments_and_plans_are_listed_newest_first_and_cut_at_the_configs_length() -> None:
    said = [a_fact(day, "x", kind=kind) for day in range(4) for kind in (FactKind.COMMITMENT, FactKind.PLAN)]
    made = profile(ANA, said, config=ProfileConfig(max_each=3))
    for facts in (made.commitments, made.plans):
        assert [fact.said_at.day for fact in facts] == [4, 3, 2]


def test_nothing_said_is_an_empty_profile() -> None:
    made = profile(ANA, [])
    assert (made.background, made.preferences, made.commitments, made.plans) == ((), (), (), ())


facts = st.lists(
    st.builds(
        a_fact,
        st.integers(0, 5),
        st.sampled_from(["Graz", "Linz", "Wien", None]),
        attribute=st.sampled_from(["home", "Home", "work", None]),
    ),
    max_size=12,
)


@given(facts)
def test_every_fact_is_in_one_trait_and_none_before_is_newer_than_now(said: list[KnownFact]) -> None:
    newest = sorted(said, key=lambda fact: -fact.said_at.timestamp())
    found = traits(newest)
    assert sum(trait.num_said + len(trait.before) for trait in found) == len(said)
    for trait in found:
        assert trait.now and trait.since <= trait.now[0].said_at
        assert all(fact.said_at <= trait.now[0].said_at for fact in trait.before)
        assert not {fact.value for fact in trait.before} & {fact.value for fact in trait.now}


def test_a_statement_is_read_with_the_names_that_are_known() -> None:
    assert rendered("{speaker} promised {addressee} a cake", "Ana", ["Ben", "Cleo"]) == "Ana promised Ben and Cleo a cake"
    assert (
        rendered("{speaker}'s cat likes {addressee}", None, ["Ben", "Cleo", "Dan"]) == "Somebody's cat likes Ben, Cleo and Dan"
    )
    assert rendered("today {speaker} asks {addressee}", "Ana", []) == "Today Ana asks the others"
    assert rendered("{speaker}", "{addressee}", ["Ben"]) == "{addressee}"


@given(st.text(alphabet="ab '’{}", max_size=20))
def test_what_is_embedded_has_no_slots(text: str) -> None:
    bare = without_people(f"{{speaker}}'s {text} {{addressee}}")
    assert "{speaker}" not in bare and "{addressee}" not in bare
