"""A word that nobody said is found out."""

from __future__ import annotations

from datetime import UTC, datetime

from service.memory.facts.words import check_words
from service.types.facts import Fact, FactKind, FactTurn

SAID = datetime(2023, 5, 17, 10, 0, tzinfo=UTC)
TURN = FactTurn("m1", "a", "I carried the parcels to Ana yesterday, and we don't regret it.", SAID)


def checked(statement: str, *, names: tuple[str, ...] = ()) -> tuple[str, ...]:
    return check_words(Fact(statement, FactKind.STATEMENT, "m1"), [TURN], names).strange


def test_inflection_slots_and_resolved_dates_are_explained() -> None:
    assert checked("{speaker} carries the parcel to Ana on 16 May 2023.") == ()
    assert checked("{speaker}'s parcels: {speaker} and others do not regret carrying them.") == ()
    assert checked("{speaker} asks: did {addressee} carry Ana's parcel?") == ()


def test_what_nobody_said_is_strange() -> None:
    assert checked("{speaker} carried the parcels to Bo on 15 June 2023.") == ("bo", "15", "june")
    assert checked("{speaker} drove the parcels to Bo.", names=("Bo",)) == ("drove",)


def test_the_share_counts_content_words() -> None:
    check = check_words(Fact("{speaker} sold the parcels to Ana.", FactKind.STATEMENT, "m1"), [TURN])
    assert (check.words, round(check.share, 2)) == (3, 0.67)
    assert check_words(Fact("{speaker} is there.", FactKind.STATEMENT, "m1"), [TURN]).share == 1.0
