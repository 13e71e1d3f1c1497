"""The fold over the graph: what one step writes, and what happens when somebody else writes meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from service.errors import NotFound
from service.graph.driver import Graph, changes, rows
from service.graph.dump import dump_space
from service.graph.forget_space import forget_space
from service.graph.spaces import get_space, save_space
from service.graph.voices import list_voices
from service.graph.write_consents import save_consent
from service.graph.write_sessions import NewSession, SessionBusy, SessionConflict, fail_session, open_session
from service.identity.router import RouterConfig
from service.pipelines.closing import CallerKnows, close
from service.pipelines.expire import expire_voices
from service.pipelines.folding import Folding
from service.pipelines.gallery import GalleryConfig, GalleryReader
from service.types.audio import SpeakerEmbedding, SpeakerTurn
from service.types.ids import fresh
from service.types.memory import SessionStatus
from service.types.people import AccessPolicy, AnonymousVoices, Consent, SpaceSettings
from tests.builders import VOICE, a_heard_turn, a_message, a_session, a_voice, evidence_of, there

Heard = tuple[SpeakerTurn, SpeakerEmbedding | None]
NOTHING = CallerKnows()

SPEAKS = """
MATCH (p:Person)-[r:SPEAKS]->(m:Message {space: $space})
RETURN m.index AS index, p.id AS person, r.decision AS decision ORDER BY index
"""
EXEMPLARS = """
MATCH (p:Person {space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar)
RETURN e.consent AS consent, e.expires_at AS expires_at, e.message_id AS message_id
"""
READERS = """
MATCH (m:Message {space: $space})-[:FOR]->(a:Audience)
OPTIONAL MATCH (p:Person)-[:MAY_READ]->(a)
RETURN m.index AS index, collect(p.id) AS readers, m.audience = a.id AS noted, m.readers AS words ORDER BY index
"""
EXPIRE_ALL = """
MATCH (e:Exemplar {space: $space}) SET e.expires_at = datetime() - duration({days: 1})
"""


async def begin(
    graph: Graph, session: NewSession, *, keep_voices: bool = True, gallery: GalleryReader | None = None
) -> Folding:
    opened = await graph.write(open_session, session)
    return Folding(
        graph,
        gallery or GalleryReader(graph, VOICE),
        RouterConfig(keep_voices=keep_voices),
        space=session.space,
        session_id=session.id,
        encoder=VOICE,
        embedder=None,
        checkpoint=opened.checkpoint,
    )


async def take(folding: Folding, session: NewSession, heard: Sequence[Heard]) -> None:
    await folding.take([a_message(t, session.id) for t, _ in heard], [evidence_of(t, session.id, e) for t, e in heard])


async def finish(graph: Graph, folding: Folding, session: NewSession, caller: CallerKnows = NOTHING) -> None:
    await folding.settle()
    await close(graph, session.space, session.id, checkpoint=folding.stored, caller=caller, embedder=None)


async def write(graph: Graph, session: NewSession, batches: Sequence[Sequence[Heard]], caller: CallerKnows = NOTHING) -> None:
    folding = await begin(graph, session)
    for batch in batches:
        await take(folding, session, batch)
    await finish(graph, folding, session, caller)


def talk(*voices: tuple[str, str], first: int = 0) -> list[Heard]:
    return [
        (a_heard_turn(first + i, f"track {of}", text), a_voice(of, mood=str(first + i))) for i, (of, text) in enumerate(voices)
    ]


async def test_a_new_voice_becomes_a_person_and_is_met_again(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "Hello."), ("ben", "Hi.")), talk(("ana", "Bye."), first=2)])
    found = await graph.read(rows, SPEAKS, space=space)
    assert [row["decision"] for row in found] == ["create", "create", "link"]
    assert found[0]["person"] == found[2]["person"] != found[1]["person"]


async def test_the_same_person_in_another_session_is_linked(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "Hello."))])
    await write(graph, a_session(space, id=fresh(), external_id="other"), [talk(("ana", "Me again."))])
    found = await graph.read(rows, SPEAKS, space=space)
    assert len({row["person"] for row in found}) == 1


async def test_what_is_read_back_is_what_was_learnt(graph: Graph, space: str) -> None:
    session = a_session(space)
    folding = await begin(graph, session)
    await take(folding, session, talk(("ana", "a"), ("ana", "b"), ("ben", "c")))
    read = await graph.read(list_voices, space, VOICE)
    learnt = folding.checkpoint.fold.gallery
    assert {
        p: (v.centroid.tolist(), v.num_turns, v.net_speech, sorted(e.id for e in v.exemplars)) for p, v in read.items()
    } == {p: (v.centroid.tolist(), v.num_turns, v.net_speech, sorted(e.id for e in v.exemplars)) for p, v in learnt.items()}


async def test_an_open_session_is_read_by_each_turns_speaker_only(graph: Graph, space: str) -> None:
    session = a_session(space)
    await take(
        await begin(graph, session), session, [*talk(("ana", "a"), ("ben", "b")), (a_heard_turn(2, "?", seconds=0.3), None)]
    )
    speakers = {row["index"]: row["person"] for row in await graph.read(rows, SPEAKS, space=space)}
    found = await graph.read(rows, READERS, space=space)
    assert {row["index"]: row["readers"] for row in found} == {0: [speakers[0]], 1: [speakers[1]], 2: []}
    assert all(row["noted"] and row["words"] == " ".join(p.replace("-", "") for p in row["readers"]) for row in found)


async def test_a_closed_session_is_read_by_who_was_there(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"), ("ben", "b"), ("ana", "c"), ("ben", "d"))])
    speakers = {row["index"]: row["person"] for row in await graph.read(rows, SPEAKS, space=space)}
    found = {row["index"]: set(row["readers"]) for row in await graph.read(rows, READERS, space=space)}
    both = {speakers[0], speakers[1]}
    assert found == {
        0: {speakers[0]},
        1: both,
        2: both,
        3: {speakers[1]},
    }  # ben comes with his first turn, ana goes with her last


async def test_audiences_that_nothing_is_for_are_gone(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"), ("ben", "b"), ("ana", "c"))])
    dump = await graph.read(dump_space, space)
    used = {edge["to"][-1] for edge in dump["edges"] if edge["type"] == "FOR"}
    assert {node["id"] for node in dump["nodes"] if node["labels"] == ["Audience"]} == used


async def test_whom_the_caller_names_may_read_under_addressed(graph: Graph, space: str) -> None:
    await graph.write(save_space, SpaceSettings(space, access=AccessPolicy.ADDRESSED))
    await write(graph, a_session(space), [talk(("ben", "Here."))])
    (ben,) = {row["person"] for row in await graph.read(rows, SPEAKS, space=space)}
    note = a_session(space, id=fresh(), external_id="note")
    await write(graph, note, [talk(("ana", "For you."))], CallerKnows(addressed_to=(ben,)))
    found = await graph.read(rows, READERS, space=space)
    assert any(ben in row["readers"] and len(row["readers"]) == 2 for row in found)


async def test_given_intervals_decide_who_was_there(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ben", "Here."))])
    (ben,) = {row["person"] for row in await graph.read(rows, SPEAKS, space=space)}
    other = a_session(space, id=fresh(), external_id="other")
    await write(graph, other, [talk(("ana", "a"), ("ana", "b"))], CallerKnows(attendance=(there(ben, (0, 4)),)))
    readers = [ben in row["readers"] for row in await graph.read(rows, READERS, space=space)]
    assert sorted(readers) == [False, True, True]


async def test_a_short_turn_is_settled_by_its_track_at_the_end(graph: Graph, space: str) -> None:
    session = a_session(space)
    folding = await begin(graph, session)
    await take(folding, session, [(a_heard_turn(0, "track ana", "mm", seconds=0.3), None)])
    await take(folding, session, talk(("ana", "Hello."), first=1))
    assert [row["index"] for row in await graph.read(rows, SPEAKS, space=space)] == [1]
    await finish(graph, folding, session)
    assert {row["index"]: row["decision"] for row in await graph.read(rows, SPEAKS, space=space)} == {
        0: "assigned",
        1: "create",
    }


@pytest.mark.parametrize("broken_after", [0, 1, 2, 3])
async def test_a_session_broken_off_anywhere_goes_on_and_ends_the_same(graph: Graph, space: str, broken_after: int) -> None:
    session = a_session(space)
    batches = [
        talk(("ana", "a"), ("ben", "b")),
        [(a_heard_turn(2, "track ben", "mm", seconds=0.3), None)],
        talk(("ben", "c"), ("cleo", "d"), ("ana", "e"), first=3),
    ]
    await write(graph, session, batches)
    whole = await graph.read(dump_space, space)
    settings = await graph.read(get_space, space)
    await forget_space(graph, space)
    await graph.write(save_space, settings)

    folding = await begin(graph, session)
    for batch in batches[:broken_after]:
        await take(folding, session, batch)
    assert (await graph.write(open_session, session)).status is SessionStatus.OPEN
    resumed = await begin(graph, session)  # a new process: nothing but the graph is left
    assert resumed.checkpoint.next_index == [0, 2, 3, 6][broken_after]
    for batch in batches[broken_after:]:
        await take(resumed, session, batch)
    await finish(graph, resumed, session)
    assert await graph.read(dump_space, space) == whole


async def test_two_writers_of_one_unknown_voice_make_one_person(graph: Graph, space: str) -> None:
    sessions = [a_session(space, id=fresh(), external_id=name) for name in ("one", "two")]
    foldings = [await begin(graph, session) for session in sessions]
    await asyncio.gather(*(take(f, s, talk(("ana", "Hello."))) for f, s in zip(foldings, sessions, strict=True)))
    found = await graph.read(rows, SPEAKS, space=space)
    assert sorted(row["decision"] for row in found) == ["create", "link"]
    assert len({row["person"] for row in found}) == 1


async def test_two_writers_of_one_session_do_not_mix(graph: Graph, space: str) -> None:
    session = a_session(space)
    first, second = await begin(graph, session), await begin(graph, session)
    await take(first, session, talk(("ana", "a")))
    with pytest.raises(SessionBusy):
        await take(second, session, talk(("ana", "a")))


async def test_the_same_session_with_other_content_is_a_conflict(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"))])
    with pytest.raises(SessionConflict):
        await graph.write(open_session, a_session(space, content_hash="other"))


async def test_the_same_sound_under_another_session_id_is_a_conflict(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"))])
    with pytest.raises(SessionConflict):
        await graph.write(open_session, a_session(space, id=fresh()))


async def test_a_session_id_of_another_space_is_refused_without_saying_whose(graph: Graph, space: str) -> None:
    other = f"{space}-other"
    await graph.write(save_space, SpaceSettings(other))
    await write(graph, a_session(space), [talk(("ana", "a"))])
    with pytest.raises(SessionConflict) as refused:
        await graph.write(open_session, a_session(other, id=a_session(space).id))
    assert space not in refused.value.message.replace(other, "")


async def test_a_failed_session_without_messages_may_be_delivered_anew(graph: Graph, space: str) -> None:
    session = a_session(space)
    await graph.write(open_session, session)
    await graph.write(fail_session, space, session.id, "transcript_does_not_fit")
    opened = await graph.write(open_session, a_session(space, content_hash="without the transcript"))
    assert opened.status is SessionStatus.OPEN


async def test_an_anonymous_voice_expires_and_takes_its_voiceprint_along(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"))])
    (kept,) = await graph.read(rows, EXEMPLARS, space=space)
    days = kept["expires_at"] - datetime.now(UTC)
    assert kept["consent"] == "unknown" and timedelta(days=29) < days <= timedelta(days=30)
    await graph.write(changes, EXPIRE_ALL, space=space)
    assert await graph.read(list_voices, space, VOICE) == {}
    await expire_voices(graph, await graph.read(get_space, space))
    assert await graph.read(rows, EXEMPLARS, space=space) == []
    dump = await graph.read(dump_space, space)
    assert not any("voiceprint__campplus" in node for node in dump["nodes"])


async def test_of_an_ephemeral_space_no_voice_is_kept_though_its_turns_hang_together(graph: Graph, space: str) -> None:
    await graph.write(save_space, SpaceSettings(space, anonymous_voices=AnonymousVoices.EPHEMERAL))
    session = a_session(space)
    for keep_voices in (False, True):  # also when the router forgot to ask: the statement that writes asks itself
        folding = await begin(graph, session, keep_voices=keep_voices)
        index = folding.checkpoint.next_index
        await take(folding, session, talk(("ana", "a"), ("ana", "b"), first=index))
    assert await graph.read(rows, EXEMPLARS, space=space) == []
    assert await graph.read(list_voices, space, VOICE) == {}
    found = await graph.read(rows, SPEAKS, space=space)
    assert found[0]["person"] == found[1]["person"]


async def test_a_withdrawn_voice_is_gone_and_never_written_again(graph: Graph, space: str) -> None:
    session = a_session(space)
    folding = await begin(graph, session)
    await take(folding, session, talk(("ana", "a")))
    (ana,) = {row["person"] for row in await graph.read(rows, SPEAKS, space=space)}
    await graph.write(save_consent, space, ana, Consent.WITHDRAWN, text_version="1", channel="form", at=datetime.now(UTC))
    assert await graph.read(rows, EXEMPLARS, space=space) == []
    await take(folding, session, talk(("ana", "b"), ("ana", "c"), first=1))
    assert await graph.read(rows, EXEMPLARS, space=space) == []


async def test_granted_consent_lifts_the_expiry(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"))])
    (ana,) = {row["person"] for row in await graph.read(rows, SPEAKS, space=space)}
    await graph.write(save_consent, space, ana, Consent.GRANTED, text_version="1", channel="form", at=datetime.now(UTC))
    (kept,) = await graph.read(rows, EXEMPLARS, space=space)
    assert (kept["consent"], kept["expires_at"]) == ("granted", None)


async def test_consent_of_nobody_is_not_found(graph: Graph, space: str) -> None:
    with pytest.raises(NotFound):
        await graph.write(save_consent, space, fresh(), Consent.GRANTED, text_version="1", channel="form", at=datetime.now(UTC))


async def test_above_the_limit_the_index_names_the_candidates(graph: Graph, space: str) -> None:
    people = [f"person {i}" for i in range(8)]
    await write(graph, a_session(space), [talk(*((p, "Hello.") for p in people))])
    small = GalleryReader(graph, VOICE, GalleryConfig(max_exact=3, recent=0))
    candidates = await small(space, [a_voice("person 5", mood="now").vector])
    assert candidates.population == 8 and len(candidates.voices) == 8  # the beam is wider than this space
    again = a_session(space, id=fresh(), external_id="again")
    folding = await begin(graph, again, gallery=small)
    await take(folding, again, talk(("person 5", "Me."), ("person 2", "And me.")))
    found = await graph.read(rows, SPEAKS, space=space)
    assert len({row["person"] for row in found}) == 8


async def test_who_changed_lately_is_a_candidate_whatever_the_index_says(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"), ("ben", "b"))])
    reader = GalleryReader(graph, VOICE, GalleryConfig(max_exact=1))
    assert len((await reader(space, [])).voices) == 2
