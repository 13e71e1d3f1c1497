from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import Any

import numpy as np
import pytest

from service.errors import InvalidInput
from service.graph.access import read_scope
from service.graph.accounts import account_id
from service.graph.driver import Graph, changes
from service.graph.people import count_people
from service.graph.write_grants import revoke_grant
from service.identity.thresholds import CAMPPLUS as SHIPPED
from service.identity.thresholds import Thresholds, assumed
from service.pipelines.gallery import Candidates, GalleryReader
from service.pipelines.viewer import HeardVoice, Refusal, ViewerRefused, resolve_viewer
from service.types.audio import EmbeddingSpace, Samples, SpeakerEmbedding
from service.types.ids import fresh
from service.types.meeting import AccountKey
from service.types.people import Assurance, Consent, PersonVoice, Principal, Viewer, VoiceAccess
from tests.granting import let
from tests.graph.graph_builders import SAVE_MERGE, World, seed

CAMPPLUS = EmbeddingSpace("campplus", "test", 192)


async def shipped() -> Thresholds:
    return SHIPPED


PEOPLE = ("ana", "ben", "cleo", "opted_out")
UNMERGE = "MATCH (:Person {id: $person})-[m:MERGED_INTO]->() DELETE m"
SET_VOICE_ACCESS = "MATCH (s:Space {id: $space}) SET s.voice_access = $access"


def a_voice(of: str, seconds: float = 5.0) -> HeardVoice:
    return HeardVoice((SpeakerEmbedding(_direction(of), CAMPPLUS),), seconds)


def between(a: str, b: str) -> HeardVoice:
    mixed = _direction(a) + _direction(b)
    return HeardVoice((SpeakerEmbedding(mixed / np.linalg.norm(mixed), CAMPPLUS),), 5.0)


def _direction(of: str) -> Samples:
    drawn = np.random.default_rng(list(of.encode())).standard_normal(192).astype(np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn), dtype=np.float32)


@pytest.fixture
async def home(graph: Graph, space: str) -> World:
    return await seed(graph, space, PEOPLE, [])


class Door:
    """Asks at a space with all four people enrolled, one of whom opted out."""

    def __init__(self, world: World, empty: bool = False) -> None:
        self.world = world
        self.looked = 0
        self.population = 0
        self._empty = empty

    async def gallery(self, space: str, vectors: Sequence[Samples]) -> Candidates:
        self.looked += 1
        voices = {} if self._empty else {self.world.person(name): self._voice(name) for name in PEOPLE}
        return Candidates(0, voices if space == self.world.space else {}, self.population)

    async def __call__(self, access: VoiceAccess = VoiceAccess.NARROW, **asked: Any) -> Viewer | ViewerRefused:
        await self.world.graph.write(changes, SET_VOICE_ACCESS, space=self.world.space, access=access.value)
        return await resolve_viewer(self.world.graph, self.gallery, space=self.world.space, **{"thresholds": shipped, **asked})

    def _voice(self, name: str) -> PersonVoice:
        consent = Consent.OPTED_OUT if name == "opted_out" else Consent.GRANTED
        return PersonVoice(self.world.person(name), CAMPPLUS, _direction(name), num_turns=5, net_speech=30.0, consent=consent)


@pytest.fixture
def door(home: World) -> Door:
    return Door(home)


async def a_token(world: World, person: str | None = None, may_act_for: tuple[str, ...] = (), *scopes: str) -> Principal:
    """Of an account of its own, which may ask for these people by grants."""
    subject = fresh()
    await let(world.graph, world.space, subject, map(world.person, may_act_for))
    account = account_id(world.space, AccountKey("local", subject))
    return Principal(account, world.person(person) if person else None, scopes=frozenset(scopes or ("ask",)))


async def test_a_token_asks_as_its_person(home: World, door: Door) -> None:
    viewer = await door(principal=await a_token(home, "ana"))
    assert isinstance(viewer, Viewer)
    assert (viewer.asker, viewer.hearers, viewer.unknown_hearer, viewer.assurance) == (
        home.person("ana"), (home.person("ana"),), False, Assurance.TOKEN)  # fmt: skip


async def test_a_token_acts_for_those_it_may_act_for_and_nobody_else(home: World, door: Door) -> None:
    token = await a_token(home, None, ("ana",))
    assert _asker(await door(principal=token, as_person=home.person("ana"))) == home.person("ana")
    refusals = [await door(principal=token, as_person=id) for id in (home.person("ben"), "no such person")]
    assert refusals[0] == refusals[1], "whether a person exists is not told"
    assert _code(refusals[0]) is Refusal.MAY_NOT_ACT_FOR
    assert _code(await door(as_person=home.person("ana"))) is Refusal.MAY_NOT_ACT_FOR


async def test_a_bot_without_a_person_sees_what_is_public(home: World, door: Door) -> None:
    viewer = await door(principal=await a_token(home))
    assert isinstance(viewer, Viewer)
    assert viewer.unknown_hearer and not viewer.hearers and not viewer.reads_all


async def test_reading_all_needs_its_scope_and_nobody_listening(home: World, door: Door) -> None:
    token = await a_token(home, None, (), "read_all")
    alone = await door(principal=token)
    heard = await door(principal=token, heard_by=(home.person("ana"),))
    assert isinstance(alone, Viewer) and isinstance(heard, Viewer)
    assert (alone.reads_all, alone.unknown_hearer) == (True, False)
    assert (heard.reads_all, heard.hearers, heard.unknown_hearer) == (False, (home.person("ana"),), False)
    assert _asker(await door(principal=token, as_person=home.person("ben"))) == home.person("ben")


async def test_nobody_in_particular_is_a_stranger(door: Door) -> None:
    viewer = await door()
    assert isinstance(viewer, Viewer)
    assert (viewer.asker, viewer.unknown_hearer, viewer.assurance) == (None, True, Assurance.NONE)


async def test_a_voice_alone_opens_only_where_the_space_is_open(home: World, door: Door) -> None:
    assert _code(await door(VoiceAccess.NEVER, voice=a_voice("ana"))) is Refusal.VOICE_NOT_USED_HERE
    assert _code(await door(VoiceAccess.NARROW, voice=a_voice("ana"))) is Refusal.VOICE_ALONE_NOT_ALLOWED
    assert door.looked == 0, "refused before it is compared with anybody"
    viewer = await door(VoiceAccess.OPEN, voice=a_voice("ana"))
    assert isinstance(viewer, Viewer)
    assert (viewer.asker, viewer.assurance) == (home.person("ana"), Assurance.VOICE)


async def test_a_voice_narrows_what_a_token_may_see(home: World, door: Door) -> None:
    own, other = await a_token(home, "ana"), await a_token(home, None, ("ana", "ben"))
    same = await door(principal=own, voice=a_voice("ana"))
    guest = await door(principal=own, voice=a_voice("ben"))
    household = await door(principal=other, voice=a_voice("ben"))
    assert isinstance(same, Viewer) and isinstance(guest, Viewer) and isinstance(household, Viewer)
    assert (same.hearers, same.assurance) == ((home.person("ana"),), Assurance.TOKEN_AND_VOICE)
    assert guest.hearers == (home.person("ben"), home.person("ana"))
    assert household.hearers == (home.person("ben"),)
    assert _code(await door(principal=other, voice=a_voice("cleo"))) is Refusal.MAY_NOT_ACT_FOR
    assert _code(await door(principal=other, as_person=home.person("ana"), voice=a_voice("ben"))) is Refusal.VOICE_CONTRADICTS


@pytest.mark.parametrize(
    ("voice", "code"),
    [
        (a_voice("a stranger"), Refusal.VOICE_NOT_RECOGNISED),
        (a_voice("ana", seconds=0.4), Refusal.VOICE_INCONCLUSIVE),
        (between("ana", "ben"), Refusal.VOICE_INCONCLUSIVE),
        (a_voice("opted_out"), Refusal.VOICE_OPTED_OUT),
    ],
)
@pytest.mark.parametrize("with_token", [False, True])
async def test_a_voice_that_is_not_accepted_is_refused_with_its_reason(
    home: World, door: Door, voice: HeardVoice, code: Refusal, with_token: bool
) -> None:
    refused = await door(VoiceAccess.OPEN, principal=await a_token(home, "ana") if with_token else None, voice=voice)
    assert isinstance(refused, ViewerRefused)
    assert refused.code is code and refused.reason
    assert refused.verdict is not None and refused.verdict.person_id is None


async def test_where_nobody_is_enrolled_a_voice_is_not_known(home: World) -> None:
    assert _code(await Door(home, empty=True)(VoiceAccess.OPEN, voice=a_voice("ana"))) is Refusal.VOICE_NOT_ENROLLED


async def test_everybody_who_hears_it_is_in_the_viewer(home: World, door: Door) -> None:
    viewer = await door(
        principal=await a_token(home, "ana"),
        heard_by=(home.person("ben"), home.person("ana")),
        heard_by_voices=(a_voice("cleo"),),
    )
    assert isinstance(viewer, Viewer)
    assert viewer.hearers == tuple(home.person(n) for n in ("ana", "ben", "cleo")) and not viewer.unknown_hearer


@pytest.mark.parametrize(
    ("access", "heard"),
    [
        (VoiceAccess.NARROW, {"heard_by": ("nobody such",)}),
        (VoiceAccess.NARROW, {"heard_by_voices": (a_voice("a stranger"),)}),
        (VoiceAccess.NARROW, {"heard_by_voices": (a_voice("ben", seconds=0.4),)}),
        (VoiceAccess.NEVER, {"heard_by_voices": (a_voice("ben"),)}),
    ],
)
async def test_somebody_unknown_in_the_room_leaves_what_is_public(
    home: World, door: Door, access: VoiceAccess, heard: Any
) -> None:
    for token in (await a_token(home, "ana"), await a_token(home, None, (), "read_all")):
        viewer = await door(access, principal=token, **heard)
        assert isinstance(viewer, Viewer)
        assert viewer.unknown_hearer and not viewer.reads_all


async def test_a_space_that_nothing_was_written_to_yet_is_an_empty_one(graph: Graph, door: Door) -> None:
    space = f"test-{fresh()}"
    reader = Principal("account", None, frozenset(), frozenset({"read_all"}))
    viewer = await resolve_viewer(graph, door.gallery, space=space, thresholds=shipped, principal=reader)
    assert isinstance(viewer, Viewer) and viewer.reads_all
    scope = await graph.read(read_scope, viewer)
    assert scope.audiences == () and await graph.read(count_people, scope) == 0
    refused = await resolve_viewer(
        graph, GalleryReader(graph, CAMPPLUS), space=space, thresholds=shipped, principal=reader, voice=a_voice("ana")
    )
    assert _code(refused) is Refusal.VOICE_NOT_ENROLLED
    assert (
        _code(await resolve_viewer(graph, door.gallery, space=space, thresholds=shipped, voice=a_voice("ana")))
        is Refusal.VOICE_ALONE_NOT_ALLOWED
    )


async def test_a_crowd_of_hearers_is_refused(door: Door) -> None:
    with pytest.raises(InvalidInput):
        await door(heard_by=tuple(map(str, range(33))))


def _asker(viewer: Viewer | ViewerRefused) -> str | None:
    assert isinstance(viewer, Viewer)
    return viewer.asker


def _code(refused: Viewer | ViewerRefused) -> Refusal:
    assert isinstance(refused, ViewerRefused)
    return refused.code


async def test_a_voice_is_judged_as_one_among_all_people_of_the_space_not_among_the_few_near_ones(
    home: World, door: Door
) -> None:
    """Thresholds rise with the number of people: a likeness that opens among four does not open among 20,000."""
    alike = HeardVoice((SpeakerEmbedding(_at_cosine("ana", 0.57), CAMPPLUS),), 5.0)
    assert _asker(await door(VoiceAccess.OPEN, voice=alike)) == home.person("ana")
    door.population = 20_000
    assert isinstance(await door(VoiceAccess.OPEN, voice=alike), ViewerRefused)


async def test_a_voice_is_judged_by_the_thresholds_given(home: World, door: Door) -> None:
    voice = HeardVoice((SpeakerEmbedding(_at_cosine("ana", 0.8), CAMPPLUS),), 5.0)
    let_in = await door(VoiceAccess.OPEN, voice=voice)
    assert isinstance(let_in, Viewer) and let_in.asker == home.person("ana")

    async def calibrated() -> Thresholds:
        return assumed("campplus", link=0.78, update=0.9, origin="a test", create_gap=0.1)

    assert _code(await door(VoiceAccess.OPEN, voice=voice, thresholds=calibrated)) is Refusal.VOICE_INCONCLUSIVE


def _at_cosine(of: str, cosine: float) -> Samples:
    toward, other = _direction(of), _direction("somebody else")
    across = other - float(toward @ other) * toward
    return np.asarray(cosine * toward + (1 - cosine**2) ** 0.5 * across / np.linalg.norm(across), dtype=np.float32)


HOLDERS: dict[str, tuple[str | None, tuple[str, ...], tuple[str, ...]] | None] = {
    "nobody": None,
    "ana": ("ana", (), ("ask",)),
    "a device": (None, (), ("ask",)),
    "ana's device": (None, ("ana",), ("ask",)),
    "ana, who may ask for ben": ("ana", ("ben",), ("ask",)),
    "who reads all": (None, (), ("read_all",)),
}
"""Who holds the token: whose it is, whom it is let ask for, and what it may do."""
VOICES = {"": None, "ana": a_voice("ana"), "ben": a_voice("ben"), "a stranger": a_voice("x"), "opted_out": a_voice("opted_out")}
NOT_TAKEN = {"a stranger": Refusal.VOICE_NOT_RECOGNISED, "opted_out": Refusal.VOICE_OPTED_OUT}


def _expected(access: VoiceAccess, holder: str, voice: str, named: str) -> tuple[list[str], Assurance] | Refusal:
    """DESIGN §5, written down once more: with whose eyes it is asked (all of them together), and how sure that is."""
    own, let, scopes = HOLDERS[holder] or (None, (), ())
    may = {"ana", "ben", "cleo"} if "read_all" in scopes else {*let, *([own] if own else [])}
    if voice and access is VoiceAccess.NEVER:
        return Refusal.VOICE_NOT_USED_HERE
    if voice and holder == "nobody" and access is VoiceAccess.NARROW:
        return Refusal.VOICE_ALONE_NOT_ALLOWED
    if voice in NOT_TAKEN:
        return NOT_TAKEN[voice]
    levels = {(0, 0): Assurance.NONE, (0, 1): Assurance.VOICE, (1, 0): Assurance.TOKEN, (1, 1): Assurance.TOKEN_AND_VOICE}
    level = levels[int(holder != "nobody"), int(bool(voice))]
    if named:
        if named not in may:
            return Refusal.MAY_NOT_ACT_FOR
        return Refusal.VOICE_CONTRADICTS if voice not in ("", named) else ([named], level)
    if not voice:
        return [own] if own else [], level
    if holder == "nobody" or voice in may:
        return [voice], level
    return ([voice, own], level) if own else Refusal.MAY_NOT_ACT_FOR


async def test_every_combination_of_token_voice_name_and_policy_opens_what_it_is_to(home: World, door: Door) -> None:
    """252 of them; with a token a voice never opens anything that the token would not."""
    tokens = {name: await a_token(home, one[0], one[1], *one[2]) if one else None for name, one in HOLDERS.items()}
    people = {"": None, "ana": home.person("ana"), "ben": home.person("ben"), "nobody known": "nobody known"}
    wrong, checked = [], 0
    for access in VoiceAccess:
        await home.graph.write(changes, SET_VOICE_ACCESS, space=home.space, access=access.value)
        for (holder, token), (voice, heard), (named, person) in product(tokens.items(), VOICES.items(), people.items()):
            if voice in NOT_TAKEN and named:
                continue  # nobody is looked for by then
            asked = {"principal": token, "voice": heard, "as_person": person}
            viewer = await resolve_viewer(home.graph, door.gallery, space=home.space, thresholds=shipped, **asked)  # type: ignore[arg-type]
            expected = _expected(access, holder, voice, named)
            if isinstance(viewer, ViewerRefused):
                found: object = viewer.code
            else:
                everything = holder == "who reads all" and not voice and not named
                assert viewer.reads_all is everything and viewer.unknown_hearer is not bool(viewer.hearers or everything)
                assert viewer.asker == (viewer.hearers[0] if viewer.hearers else None)
                assert viewer.principal is None or viewer.principal.account_id == (token.account_id if token else None)
                names = {id: name for name, id in people.items()}
                found = ([names[id] for id in viewer.hearers], viewer.assurance)
                own, let, scopes = HOLDERS[holder] or (None, (), ())
                through = set(let) & set(found[0][:1]) if viewer.asker != people.get(own or "") else set()
                assert bool(viewer.grants) is bool(through and "read_all" not in scopes)
            checked += 1
            if found != expected:
                wrong.append((access, holder, voice, named, found, expected))
    assert checked == len(VoiceAccess) * len(HOLDERS) * (3 * len(people) + len(NOT_TAKEN)) == 252 and not wrong


async def test_leave_is_looked_up_at_each_question_and_follows_confirmed_merges_only(home: World, door: Door) -> None:
    token = await a_token(home, None, ("ana",))
    (grant,) = (await door(principal=token, as_person=home.person("ana"))).grants  # type: ignore[union-attr]
    for confirmed in (False, True):
        await home.graph.write(changes, SAVE_MERGE, person=home.person("ana"), into=home.person("cleo"), confirmed=confirmed)
        answer = await door(principal=token, as_person=home.person("cleo"))
        assert isinstance(answer, Viewer) is confirmed
        await home.graph.write(changes, UNMERGE, person=home.person("ana"))
    forged = replace(token, may_act_for=frozenset({home.person("ben")}))
    assert _code(await door(principal=forged, as_person=home.person("ben"))) is Refusal.MAY_NOT_ACT_FOR
    await home.graph.write(revoke_grant, home.space, grant, actor="test", why="", at=datetime.now(UTC))
    assert _code(await door(principal=token, as_person=home.person("ana"))) is Refusal.MAY_NOT_ACT_FOR
