"""What a login says of whose turns are whose: its owner's, unless anything speaks against it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from service.memory.accounts import PLATFORM, Held, Nobodys, Of, Why, attended, presences, united, whose
from service.types.accounts import HeardAs, Owner, Presence, SignedIn, Track
from service.types.audio import Segment
from service.types.meeting import AccountKey
from service.types.memory import Attendance


def owner(person: str, *same: str, bot: bool = False, voice: bool = False) -> Owner:
    return Owner(f"account of {person}", person, bot, frozenset((person, *same)), voice)


ANA, BEN, ROBOT = owner("ana"), owner("ben"), owner("robot", bot=True)
TRACK = Track("track", is_bot=False, several=False, owners=(ANA,))


def test_a_login_that_nothing_speaks_against_is_its_owners() -> None:
    assert whose(TRACK) == Of(ANA)
    assert whose(replace(TRACK, heard=(HeardAs("ana", True),))) == Of(ANA)
    assert whose(replace(TRACK, owners=(owner("ana", "ana 2"), owner("ana 2", "ana")))) == Of(owner("ana", "ana 2"))


def test_a_login_of_nobody_a_room_and_a_program_tell_nothing() -> None:
    for track in (
        replace(TRACK, owners=()),
        replace(TRACK, several=True),
        replace(TRACK, is_bot=True),
        replace(TRACK, owners=(ROBOT,)),
    ):
        assert whose(track) == Nobodys()
    assert whose(replace(TRACK, owners=(ROBOT,), is_bot=True)) == Of(ROBOT)


def test_a_known_voice_speaks_against_a_login_whoever_s_it_is() -> None:
    contradicts = Held("track", ("ana",), Why.CONTRADICTS_ACCOUNT)
    stranger = HeardAs("voice 7", is_settled=False)
    assert whose(replace(TRACK, heard=(HeardAs("ben", True),))) == contradicts
    assert whose(replace(TRACK, owners=(owner("ana", voice=True),), heard=(stranger,))) == contradicts
    assert whose(replace(TRACK, heard=(stranger, HeardAs("voice 8", False)))) == contradicts, "two voices are not one person"
    assert whose(replace(TRACK, heard=(stranger,))) == Held("voice 7", ("ana",), Why.ACCOUNT)


def test_logins_of_two_people_are_held_whichever_comes_first() -> None:
    for owners in ((ANA, BEN), (BEN, ANA)):
        verdict = whose(replace(TRACK, owners=owners))
        assert isinstance(verdict, Held) and verdict.why is Why.SEVERAL_ACCOUNTS and set(verdict.people) == {"ana", "ben"}


KEYS = [AccountKey("zoom", f"u{n}") for n in range(4)]
OWNERS = {"u0": owner("ana"), "u1": owner("ben"), "u2": owner("ana")}
SEGMENTS = st.tuples(st.integers(0, 50), st.integers(0, 20)).map(lambda t: Segment(float(t[0]), float(t[0] + t[1])))
PARTICIPANTS = st.lists(
    st.builds(
        SignedIn,
        accounts=st.lists(st.sampled_from(KEYS), min_size=1, max_size=2, unique=True).map(tuple),
        is_bot=st.booleans(),
        several=st.booleans(),
        attends=st.lists(SEGMENTS, max_size=3).map(tuple),
    ),
    max_size=6,
)


def there(participants: list[SignedIn], doubted: frozenset[str] = frozenset()) -> tuple[Attendance, ...]:
    return attended(presences(participants, lambda key: key.subject), OWNERS, doubted)


@given(PARTICIPANTS, st.frozensets(st.sampled_from(["ana", "ben"])))
def test_nobody_was_there_but_by_a_login_of_their_own_alone(participants: list[SignedIn], doubted: frozenset[str]) -> None:
    for one in there(participants, doubted):
        own = [
            segment
            for p in participants
            if not p.is_bot and not p.several and any(OWNERS.get(k.subject) == owner(one.person_id) for k in p.accounts)
            for segment in p.attends
        ]
        assert one.person_id not in doubted and one.source == PLATFORM
        assert all(any(s.start <= i.start and i.end <= s.end for s in united(own)) for i in one.intervals)


@given(PARTICIPANTS)
def test_the_order_of_participants_means_nothing_and_programs_and_rooms_add_nobody(participants: list[SignedIn]) -> None:
    assert there(participants) == there(participants[::-1])
    assert there([replace(p, is_bot=True) for p in participants]) == ()
    assert there([replace(p, several=True) for p in participants]) == ()


@given(st.lists(SEGMENTS))
def test_united_intervals_are_apart_in_order_and_hold_the_same_time(segments: list[Segment]) -> None:
    found = united(segments)
    assert all(a.end < b.start for a, b in pairwise(found))
    for moment in (s.start for s in segments):
        assert any(s.start <= moment <= s.end for s in found)
    assert {s.start for s in found} <= {s.start for s in segments} and {s.end for s in found} <= {s.end for s in segments}


def test_a_participant_of_two_peoples_logins_was_neither_of_them() -> None:
    whole = (Segment(0.0, 9.0),)
    assert there([SignedIn((KEYS[0], KEYS[1]), attends=whole)]) == ()
    assert there([SignedIn((KEYS[0], KEYS[2]), attends=whole)]) == (Attendance("ana", whole, PLATFORM),)
    assert attended([Presence("u0", (), ())], OWNERS) == (), "when is not told"
