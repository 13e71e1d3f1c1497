"""What a login that somebody bound attributes, what it opens, and all that it does not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from service.graph.access import read_scope
from service.graph.accounts import account_id, find_unfollowed, list_accounts
from service.graph.driver import Graph, rows
from service.graph.dump import dump_space
from service.graph.events import list_events, list_told
from service.graph.forget_space import forget_space
from service.graph.paging import Page
from service.graph.write_accounts import bind_account, followed, unbind_account
from service.graph.write_people import add_alias, save_person
from service.graph.write_sessions import open_session
from service.identity.router import RouterConfig
from service.pipelines.accounts import Accounts
from service.pipelines.attribute import note_logins
from service.pipelines.folding import Folding
from service.pipelines.gallery import GalleryReader
from service.types.audio import Segment
from service.types.events import EventKind, ToldEvent
from service.types.ids import fresh
from service.types.meeting import AccountKey
from service.types.people import Assurance, Viewer
from tests.builders import VOICE, a_heard_turn, a_message, a_session, evidence_of
from tests.graph.correction_builders import correct, ingest, speakers, state
from tests.graph.login_builders import EMBEDDER, a_meeting, may_be, message, readers_of, session_id, signed_in, track

ZOOM, OTHER, MAIL = AccountKey("zoom", "u-ana"), AccountKey("zoom", "u-ben"), AccountKey("mailto", "ana@example.org")
BY = {"actor": "admin", "why": "she said so"}
TALK = [("ana", "Shall we go?"), ("ben", "Not yet."), ("ana", "When?"), ("", "At nine.")]


async def a_person(graph: Graph, space: str, name: str, kind: str = "named") -> str:
    person = fresh()
    await graph.write(save_person, space, person, name, kind=kind)
    return person


@pytest.fixture
def accounts(graph: Graph) -> Accounts:
    return Accounts(graph, EMBEDDER)


async def test_turns_that_came_with_a_bound_login_are_its_owners_and_others_stay_nobodys(
    graph: Graph, space: str, accounts: Accounts
) -> None:
    ana = await a_person(graph, space, "Ana")
    await accounts.bind(space, ZOOM, ana, **BY)
    logins = [signed_in(space, "monday", "ana", ZOOM, MAIL), signed_in(space, "monday", "ben", OTHER)]
    await a_meeting(graph, space, "monday", TALK, logins)
    assert await speakers(graph, space, "monday") == [ana, None, ana, None]
    assert await readers_of(graph, space, "monday") == [{ana}] * 4, "who was there by their login heard what others said, too"


async def test_while_a_meeting_goes_on_its_turns_are_attributed_already(graph: Graph, space: str, accounts: Accounts) -> None:
    ana = await a_person(graph, space, "Ana")
    await accounts.bind(space, ZOOM, ana, **BY)
    session = await a_meeting(graph, space, "monday", TALK, [signed_in(space, "monday", "ana", ZOOM)], open_still=True)
    assert await speakers(graph, space, "monday") == [ana, None, ana, None]
    assert await readers_of(graph, space, "monday") == [{ana}, set(), {ana}, set()]
    before = await graph.read(dump_space, space)
    assert (await accounts.attribute(space, session)).num_turns == 0
    assert await graph.read(dump_space, space) == before, "said twice, it is as said once"


async def test_a_binding_counts_for_meetings_before_it_and_unbinding_takes_all_of_it_back(
    graph: Graph, space: str, accounts: Accounts
) -> None:
    ana, ben = await a_person(graph, space, "Ana"), await a_person(graph, space, "Ben")
    half = (Segment(0.0, 8.0),)
    for meeting in ("monday", "friday"):
        await a_meeting(graph, space, meeting, TALK, [signed_in(space, meeting, "ana", ZOOM, attends=half)])
    unbound = await state(graph, space)
    done = await accounts.bind(space, ZOOM, ana, **BY)
    assert (done.num_turns, done.num_sessions) == (4, 2)
    for person, told in ((ana, 2), (ben, 0)):
        assert len(await revised(graph, space, person)) == told, "who may read it is told that turns changed hands"
    bound = await state(graph, space)
    for meeting in ("monday", "friday"):
        assert await speakers(graph, space, meeting) == [ana, None, ana, None]
        assert await readers_of(graph, space, meeting) == [{ana}, {ana}, {ana}, set()], "she had left by the fourth"
    taken = await accounts.unbind(space, done.account_id, **BY)
    assert (taken.num_turns, taken.num_sessions) == (4, 2)
    assert await state(graph, space) == unbound
    await accounts.bind(space, ZOOM, ana, **BY)
    assert (await state(graph, space))["nodes"] == bound["nodes"]


async def test_a_binding_broken_off_before_it_took_effect_goes_on(graph: Graph, space: str, accounts: Accounts) -> None:
    ana = await a_person(graph, space, "Ana")
    for meeting in ("monday", "friday"):
        await a_meeting(graph, space, meeting, TALK, [signed_in(space, meeting, "ana", ZOOM)])
    await graph.write(bind_account, space, ZOOM, ana, actor="admin", why="she said so", at=datetime.now(UTC))
    await accounts.attribute(space, session_id(space, "monday"))
    assert await speakers(graph, space, "friday") == [None] * 4
    done = await accounts.bind(space, ZOOM, ana, **BY)
    assert (done.num_turns, done.num_sessions) == (2, 1)
    assert await speakers(graph, space, "friday") == await speakers(graph, space, "monday") == [ana, None, ana, None]


MARKS = "MATCH (a:Account {space: $space}) RETURN a.follows_since IS NOT NULL AS marked"
LATER = timedelta(minutes=11)
"""After which whoever changed an account is taken to be gone."""


async def test_what_was_broken_off_the_service_goes_on_with(graph: Graph, space: str, accounts: Accounts) -> None:
    """Bound, and then unbound: what it opened would else stay open in the meetings that were not reached."""

    async def marked() -> list[bool]:
        return [row["marked"] for row in await graph.read(rows, MARKS, space=space)]

    wrong: list[BaseException] = []
    ana = await a_person(graph, space, "Ana")
    for meeting in ("monday", "friday"):
        await a_meeting(graph, space, meeting, TALK, [signed_in(space, meeting, "ana", ZOOM)])
    for bound, owner in ((True, ana), (False, None)):
        said = {"actor": "admin", "why": "", "at": datetime.now(UTC)}
        if bound:
            await graph.write(bind_account, space, ZOOM, ana, **said)  # type: ignore[arg-type]
        else:
            await graph.write(unbind_account, space, account_id(space, ZOOM), **said)  # type: ignore[arg-type]
        await accounts.attribute(space, session_id(space, "monday"))
        assert await marked() == [True]
        await accounts.go_on(wrong.append)
        assert await marked() == [True], "it may be worked at still"
        assert await speakers(graph, space, "friday") == [None if bound else ana, None, None if bound else ana, None]
        await accounts.go_on(wrong.append, datetime.now(UTC) + LATER)
        assert await marked() == [False]
        for meeting in ("monday", "friday"):
            assert await speakers(graph, space, meeting) == [owner, None, owner, None]
            assert await readers_of(graph, space, meeting) == [{ana} if bound else set()] * 4
    await accounts.bind(space, ZOOM, ana, **BY)
    assert await marked() == [False], "who is not broken off leaves nothing to do"


async def test_one_account_that_cannot_be_put_right_keeps_no_other_from_it(graph: Graph, space: str) -> None:
    ana, ben = await a_person(graph, space, "Ana"), await a_person(graph, space, "Ben")
    named = {"monday": ZOOM, "friday": OTHER}
    for meeting, key in named.items():
        await a_meeting(graph, space, meeting, TALK, [signed_in(space, meeting, "ana", key)])
    for key, person in ((ZOOM, ana), (OTHER, ben)):
        await graph.write(bind_account, space, key, person, actor="admin", why="", at=datetime.now(UTC))
    broken = "MATCH (s:Session {space: $space, id: $id}) SET s.status = 'open', s.checkpoint = '{'"
    await graph.write(rows, broken, space=space, id=session_id(space, "monday"))
    wrong: list[BaseException] = []
    await Accounts(graph, EMBEDDER).go_on(wrong.append, datetime.now(UTC) + LATER)
    assert len(wrong) == 1
    assert await speakers(graph, space, "friday") == [ben, None, ben, None]


async def test_a_change_that_comes_meanwhile_is_not_taken_for_done(graph: Graph, space: str) -> None:
    ana, first = await a_person(graph, space, "Ana"), datetime.now(UTC) - timedelta(hours=1)
    id = await graph.write(bind_account, space, ZOOM, ana, actor="admin", why="", at=first)
    begun = await graph.read(find_unfollowed, space, id)
    assert begun is not None and begun.since == first
    await graph.write(unbind_account, space, id, actor="admin", why="", at=datetime.now(UTC))
    await graph.write(followed, space, id, begun.since)
    later = await graph.read(find_unfollowed, space, id)
    assert later is not None and later.since > first
    await graph.write(followed, space, id, later.since)
    assert await graph.read(find_unfollowed, space, id) is None


async def revised(graph: Graph, space: str, person: str) -> list[ToldEvent]:
    """What the person is told of who is who."""
    scope = await graph.read(read_scope, Viewer(space, None, person, (person,), False, Assurance.TOKEN))
    since = datetime.now(UTC) - timedelta(hours=1)
    found, _ = await graph.read(list_events, space, kinds=[EventKind.IDENTITY_REVISED], since=since, had=(), limit=50)
    return [event for event in await graph.read(list_told, scope, found) if event.what == "account"]


async def test_what_somebody_corrected_no_login_changes(graph: Graph, space: str, accounts: Accounts) -> None:
    ana, ben = await a_person(graph, space, "Ana"), await a_person(graph, space, "Ben")
    await a_meeting(graph, space, "monday", TALK, [signed_in(space, "monday", "ana", ZOOM)])
    done = await accounts.bind(space, ZOOM, ana, **BY)
    not_hers = message(space, "monday", 2)
    await correct(graph).reassign(space, [not_hers], None, **BY)
    await accounts.attribute(space, session_id(space, "monday"))
    assert await speakers(graph, space, "monday") == [ana, None, None, None]
    await correct(graph).reassign(space, [message(space, "monday", 0)], ben, **BY)
    await accounts.unbind(space, done.account_id, **BY)
    assert await speakers(graph, space, "monday") == [ben, None, None, None]


async def test_a_program_with_somebodys_login_is_not_them_and_its_presence_opens_nothing(
    graph: Graph, space: str, accounts: Accounts
) -> None:
    ana, robot = await a_person(graph, space, "Ana"), await a_person(graph, space, "Notes", kind="bot")
    await accounts.bind(space, ZOOM, ana, **BY)
    await accounts.bind(space, OTHER, robot, **BY)
    logins = [signed_in(space, "monday", "ana", ZOOM, bot=True), signed_in(space, "monday", "ben", OTHER, bot=True)]
    await a_meeting(graph, space, "monday", TALK, logins)
    assert await speakers(graph, space, "monday") == [None, robot, None, None]
    assert await readers_of(graph, space, "monday") == [set()] * 4


async def test_who_is_said_to_be_a_bot_has_what_its_program_said_in_meetings_before_and_no_presence(
    graph: Graph, space: str, accounts: Accounts
) -> None:
    notes = await a_person(graph, space, "Notes")
    await accounts.bind(space, ZOOM, notes, **BY)
    await accounts.bind(space, OTHER, notes, **BY)
    logins = [signed_in(space, "monday", "ana", ZOOM, bot=True), signed_in(space, "monday", "ben", OTHER)]
    await a_meeting(graph, space, "monday", TALK, logins)
    assert await speakers(graph, space, "monday") == [None, notes, None, None]
    before = await state(graph, space)
    said = await correct(graph).bot(space, notes, **BY)
    assert await speakers(graph, space, "monday") == [notes, None, notes, None], "what it said, and nobody's with its login"
    assert await readers_of(graph, space, "monday") == [set()] * 4
    await correct(graph).undo(space, said.correction_id, actor="admin")
    assert await state(graph, space) == before
    await graph.write(add_alias, space, notes, "Robot")
    await correct(graph).undo(space, (await correct(graph).bot(space, notes, **BY)).correction_id, actor="admin")


async def test_a_room_behind_one_tile_is_nobody_in_particular(graph: Graph, space: str, accounts: Accounts) -> None:
    ana = await a_person(graph, space, "Ana")
    done = await accounts.bind(space, ZOOM, ana, **BY)
    await a_meeting(graph, space, "monday", TALK, [signed_in(space, "monday", "ana", ZOOM, several=True)])
    assert await speakers(graph, space, "monday") == [None] * 4
    assert await readers_of(graph, space, "monday") == [set()] * 4
    scope = await graph.read(read_scope, Viewer(space, None, None, (), False, Assurance.TOKEN, reads_all=True))
    (told,) = (await graph.read(list_accounts, scope, page=Page(first=9))).items
    assert (told.num_sessions, told.num_several) == (1, 1), "so that somebody may say that it is a room's"
    await a_meeting(graph, space, "friday", TALK, [signed_in(space, "friday", "ana", ZOOM)])
    assert (await speakers(graph, space, "friday"))[0] == ana
    await accounts.share(space, done.account_id, True, **BY)
    assert await speakers(graph, space, "friday") == [None] * 4, "once it is known that several people use it, it is nobody's"
    assert await readers_of(graph, space, "friday") == [set()] * 4


async def test_two_logins_of_two_people_on_one_participant_wait_for_a_human(
    graph: Graph, space: str, accounts: Accounts
) -> None:
    ana, ben = await a_person(graph, space, "Ana"), await a_person(graph, space, "Ben")
    await accounts.bind(space, ZOOM, ana, **BY)
    mail = await accounts.bind(space, MAIL, ben, **BY)
    await a_meeting(graph, space, "monday", TALK, [signed_in(space, "monday", "ana", ZOOM, MAIL)])
    assert await speakers(graph, space, "monday") == [None] * 4
    assert await readers_of(graph, space, "monday") == [set()] * 4
    local = track(space, "monday", "ana")
    assert await may_be(graph, space) == {(local, ana, "several_accounts"), (local, ben, "several_accounts")}
    await accounts.unbind(space, mail.account_id, **BY)
    assert (await speakers(graph, space, "monday"))[0] == ana
    assert await may_be(graph, space) == set()


async def test_two_participants_of_one_name_are_told_apart_by_their_logins(
    graph: Graph, space: str, accounts: Accounts
) -> None:
    one, other = await a_person(graph, space, "Camille Martin"), await a_person(graph, space, "Camille Martin")
    await accounts.bind(space, ZOOM, one, **BY)
    await accounts.bind(space, OTHER, other, **BY)
    logins = [signed_in(space, "monday", "ana", ZOOM), signed_in(space, "monday", "ben", OTHER)]
    await a_meeting(graph, space, "monday", TALK, logins)
    assert await speakers(graph, space, "monday") == [one, other, one, None]


async def voiced(graph: Graph, space: str, name: str, accounts: Accounts, *, key: AccountKey = ZOOM) -> list[str | None]:
    """A meeting that was heard, in which the voice of track ana came with the login `key`."""
    await ingest(graph, space, name, [("ana", "Shall we go?"), ("ben", "Not yet."), ("ana", "When?")])
    await graph.write(note_logins, space, session_id(space, name), [signed_in(space, name, "ana", key)])
    await accounts.attribute(space, session_id(space, name))
    return await speakers(graph, space, name)


async def test_a_voice_that_contradicts_the_login_stays_and_the_login_opens_nothing(
    graph: Graph, space: str, accounts: Accounts
) -> None:
    first = await ingest(graph, space, "before", [("ana", "Hello."), ("ben", "Hello.")])
    ben = first[1]
    assert ben is not None
    await accounts.bind(space, ZOOM, ben, **BY)  # whose voice is known, and is not Ana's
    assert await voiced(graph, space, "monday", accounts) == [first[0], ben, first[0]]
    assert await may_be(graph, space) == {(track(space, "monday", "ana"), ben, "contradicts_account")}
    assert [ben in readers for readers in await readers_of(graph, space, "monday")] == [False, True, False], "as without it"


async def test_a_voice_nobody_knows_is_proposed_to_be_the_owners_and_is_not_learned_as_theirs(
    graph: Graph, space: str, accounts: Accounts
) -> None:
    ana = await a_person(graph, space, "Ana")
    await accounts.bind(space, ZOOM, ana, **BY)
    voice, *_ = await voiced(graph, space, "monday", accounts)
    assert voice is not None and voice != ana
    assert await may_be(graph, space) == {(voice, ana, "account")}
    assert all(ana in readers for readers in await readers_of(graph, space, "monday")), "she was there, by her login"
    await correct(graph).merge(space, voice, ana, actor="admin", why="heard it")
    await accounts.attribute(space, session_id(space, "monday"))
    assert await may_be(graph, space) == set()


async def test_what_is_still_to_be_decided_by_voice_waits_for_that(graph: Graph, space: str, accounts: Accounts) -> None:
    ana = await a_person(graph, space, "Ana")
    await accounts.bind(space, ZOOM, ana, **BY)
    session = a_session(space, id=session_id(space, "monday"), external_id="monday")
    opened = await graph.write(open_session, session)
    folding = Folding(
        graph,
        GalleryReader(graph, VOICE),
        RouterConfig(),
        space=space,
        session_id=session.id,
        encoder=VOICE,
        embedder=None,
        checkpoint=opened.checkpoint,
    )
    turn = a_heard_turn(0, "track ana", "Mm.", seconds=0.4)
    await folding.take([a_message(turn, session.id)], [evidence_of(turn, session.id, None)])
    await graph.write(note_logins, space, session.id, [signed_in(space, "monday", "ana", ZOOM)])
    assert (await accounts.attribute(space, session.id)).num_turns == 0
    await folding.settle()
    assert (await accounts.attribute(space, session.id)).num_turns == 1
    assert await speakers(graph, space, "monday") == [ana]


async def test_an_unknown_login_is_kept_and_is_nobodys(graph: Graph, space: str, accounts: Accounts) -> None:
    await a_meeting(graph, space, "monday", TALK, [signed_in(space, "monday", "ana", MAIL)])
    found = [n for n in (await state(graph, space))["nodes"] if n["labels"] == ["Account"]]
    assert [(n["id"], n["subject"], n["name"]) for n in found] == [(account_id(space, MAIL), MAIL.subject, "Ana")]
    assert await speakers(graph, space, "monday") == [None] * 4
    await forget_space(graph, space)
    assert await graph.read(rows, "MATCH (a:Account {space: $space}) RETURN a.id AS id", space=space) == []
