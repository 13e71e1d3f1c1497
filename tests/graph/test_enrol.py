"""A person becomes known by name and voice with consent, and is forgotten by voice when they take it back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.errors import InvalidInput, NotFound
from service.graph.driver import Graph, rows
from service.graph.spaces import ensure_space
from service.graph.voices import list_voices
from service.graph.write_people import save_person
from service.identity.ask import AskConfig
from service.identity.opt_outs import Marker
from service.pipelines.clip import NobodySpeaks, SeveralVoices
from service.pipelines.consents import record_consent
from service.pipelines.correct import Correct
from service.pipelines.enrol import (
    Enrol,
    PersonOptedOut,
    TooClipped,
    TooLittleSpeech,
    VoiceKnown,
    VoiceOptedOut,
    name_also,
    rename,
)
from service.pipelines.gallery import GalleryReader
from service.pipelines.ingest import IngestRequest
from service.types.audio import SAMPLE_RATE, Waveform
from service.types.ids import fresh
from service.types.people import Consent, SpaceSettings
from tests import models
from tests.builders import write_wav
from tests.graph.ingest_process import an_ingest
from tests.unit.audio.speech import a_clip, sound

PERSON = """
MATCH (p:Person {space: $space})
RETURN p.id AS id, p.display_name AS name, p.named_by AS named_by, p.aliases AS aliases, p.kind AS kind,
       p.voiceprint__campplus IS NOT NULL AS has_voiceprint,
       COLLECT { MATCH (p)-[:HAS_EXEMPLAR]->(e) RETURN e.consent } AS exemplars,
       COLLECT { MATCH (p)-[:GAVE]->(c:Consent) RETURN c.state ORDER BY c.at } AS consents,
       COUNT { (p)-[:SPEAKS]->() } AS num_messages
ORDER BY name
"""
AGREED: dict[str, Any] = {"text_version": "2026-11", "channel": "clip"}


def an_enrol(graph: Graph) -> Enrol:
    encoder = models.campplus()
    return Enrol(graph, models.segmenter(), encoder, GalleryReader(graph, encoder.embedding_space), ask=AskConfig())


async def enrolled(graph: Graph, space: str, name: str, waveform: Waveform, **given: Any) -> str:
    return await an_enrol(graph)(space=space, name=name, waveform=waveform, **AGREED, **given)


async def people(graph: Graph, space: str) -> list[dict[str, Any]]:
    return await graph.read(rows, PERSON, space=space)


async def test_a_clip_makes_a_named_person_with_consent_and_voice(graph: Graph, space: str) -> None:
    ben = await enrolled(graph, space, " Ben ", sound("enrol_ben"))
    (person,) = await people(graph, space)
    assert (person["id"], person["name"], person["kind"], person["consents"]) == (ben, "Ben", "named", ["granted"])
    assert person["named_by"] == ben, "who enrols says how they are called"
    assert person["has_voiceprint"] and set(person["exemplars"]) == {"granted"}


async def test_the_enrolled_voice_is_linked_in_a_recording(graph: Graph, space: str, tmp_path: Path) -> None:
    ben = await enrolled(graph, space, "Ben", sound("enrol_ben"))
    await an_ingest(graph)(IngestRequest(write_wav(tmp_path / "ben.wav", a_clip("Ben", 6).samples), space))
    (person,) = await people(graph, space)
    assert person["id"] == ben and person["num_messages"] > 0


async def test_somebody_met_before_and_never_asked_is_enrolled_as_who_they_are(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    said = np.concatenate([a_clip("Ben", number).samples for number in (0, 2, 6)])
    await an_ingest(graph)(IngestRequest(write_wav(tmp_path / "ben.wav", said), space))
    (met,) = await people(graph, space)
    assert met["kind"] == "anonymous"
    assert await enrolled(graph, space, "Ben", sound("enrol_ben")) == met["id"]
    (person,) = await people(graph, space)
    assert (person["name"], person["kind"]) == ("Ben", "named") and set(person["exemplars"]) == {"granted"}


async def test_an_enrolled_voice_is_not_enrolled_under_a_second_name(graph: Graph, space: str) -> None:
    ben = await enrolled(graph, space, "Ben", sound("enrol_ben"))
    with pytest.raises(VoiceKnown):
        await enrolled(graph, space, "Benjamin", sound("enrol_ben"))
    assert await enrolled(graph, space, "Benjamin", sound("enrol_ben"), person_id=ben) == ben
    (person,) = await people(graph, space)
    assert (person["name"], person["aliases"]) == ("Benjamin", ["Ben"])


async def test_the_same_clip_again_adds_no_exemplar(graph: Graph, space: str) -> None:
    ben = await enrolled(graph, space, "Ben", sound("enrol_ben"))
    (before,) = await people(graph, space)
    await enrolled(graph, space, "Ben", sound("enrol_ben"), person_id=ben)
    (after,) = await people(graph, space)
    assert len(after["exemplars"]) == len(before["exemplars"])


@pytest.mark.parametrize(("at", "needed"), [(2099, "a time that has come"), (2020, "a time after they refused")])
async def test_nobody_is_enrolled_by_what_they_will_say_nor_by_what_they_took_back(
    graph: Graph, space: str, at: int, needed: str
) -> None:
    ben = fresh()
    await graph.write(ensure_space, SpaceSettings(space))
    await graph.write(save_person, space, ben, "Ben")
    await record_consent(graph, space=space, person_id=ben, state=Consent.WITHDRAWN, **AGREED)
    said: dict[str, Any] = {"at": datetime(at, 1, 1, tzinfo=UTC), "although_opted_out": True, "person_id": ben}
    with pytest.raises(InvalidInput, match=needed):
        await enrolled(graph, space, "Benjamin", sound("enrol_ben"), **said)
    (person,) = await people(graph, space)
    assert (person["name"], person["exemplars"], person["consents"]) == ("Ben", [], ["withdrawn"])


@pytest.mark.parametrize("state", [Consent.WITHDRAWN, Consent.OPTED_OUT])
async def test_taking_consent_back_removes_the_voice_at_once_and_keeps_the_name(
    graph: Graph, space: str, state: Consent
) -> None:
    ben = await enrolled(graph, space, "Ben", sound("enrol_ben"), at=datetime(2026, 1, 1, tzinfo=UTC))
    await record_consent(graph, space=space, person_id=ben, state=state, **AGREED)
    (person,) = await people(graph, space)
    assert (person["name"], person["has_voiceprint"], person["exemplars"]) == ("Ben", False, [])
    assert person["consents"] == ["granted", state.value]
    assert await graph.read(list_voices, space, models.campplus().embedding_space) == {}


@pytest.mark.parametrize(
    ("waveform", "error"),
    [
        (Waveform(np.zeros(5 * SAMPLE_RATE, np.float32)), NobodySpeaks),
        (a_clip("Nora", seconds=2.0), TooLittleSpeech),
        (Waveform(np.concatenate([a_clip("Ben", 6).samples, a_clip("Nora", 7).samples])), SeveralVoices),
    ],
    ids=["silence", "too short", "two people"],
)
async def test_a_clip_that_is_not_one_voice_long_enough_is_refused(
    graph: Graph, space: str, waveform: Waveform, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await enrolled(graph, space, "Ben", waveform)
    assert await people(graph, space) == []


async def test_case_36_a_clip_with_too_much_gain_is_refused(graph: Graph, space: str) -> None:
    loud = sound("enrol_ben").samples
    loud = np.clip(loud / np.quantile(np.abs(loud), 0.9), -1.0, 1.0).astype(np.float32)
    with pytest.raises(TooClipped, match="Turn the gain down"):
        await enrolled(graph, space, "Ben", Waveform(loud))
    assert not await people(graph, space)


async def test_a_person_without_a_name_is_refused(graph: Graph, space: str) -> None:
    with pytest.raises(InvalidInput):
        await enrolled(graph, space, "  ", sound("enrol_ben"))


async def test_renaming_keeps_the_old_name_as_an_alias(graph: Graph, space: str) -> None:
    ben = await enrolled(graph, space, "Ben", sound("enrol_ben"))
    await rename(graph, space=space, person_id=ben, name="Benedict", actor="account-1")
    await name_also(graph, space=space, person_id=ben, alias="Benny")
    (person,) = await people(graph, space)
    assert (person["name"], person["aliases"], person["named_by"]) == ("Benedict", ["Ben", "Benny"], "account-1")


async def test_nobody_is_renamed_in_another_space(graph: Graph, space: str) -> None:
    ben = await enrolled(graph, space, "Ben", sound("enrol_ben"))
    for person_id, where in ((ben, f"{space}-other"), (fresh(), space)):
        with pytest.raises(NotFound):
            await rename(graph, space=where, person_id=person_id, name="Eve", actor="account-1")


EXEMPLARS = """
MATCH (:Person {space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar)
RETURN e.id AS id, e.channel AS channel, e.twin_of AS twin_of, e.message_id AS message_id
ORDER BY channel, id
"""


@pytest.mark.parametrize("name", ["", "  ", "Eve\nAdministrator: yes", "E\u2028ve", "Eve\x1b[31m", "x" * 201, "\ud83d"])
async def test_a_name_is_one_plain_line_however_it_is_given(graph: Graph, space: str, name: str) -> None:
    for give in (
        rename(graph, space=space, person_id="anybody", name=name, actor="account-1"),
        name_also(graph, space=space, person_id="anybody", alias=name),
        Correct(graph).reassign(space, ["m"], None, actor="account-1", why="", name=name),
        Correct(graph).split(space, "anybody", messages=["m"], actor="account-1", why="", name=name),
    ):
        with pytest.raises(InvalidInput, match=r"name|alias"):
            await give


async def test_an_enrolled_voice_is_kept_as_a_telephone_would_carry_it_too(graph: Graph, space: str) -> None:
    await enrolled(graph, space, "Ben", sound("enrol_ben"))
    kept = await graph.read(rows, EXEMPLARS, space=space)
    heard = {e["id"]: e for e in kept if e["twin_of"] is None}
    twins = [e for e in kept if e["twin_of"] is not None]
    assert heard and len(twins) == min(3, len(heard))
    assert {e["channel"] for e in twins} == {"telephone"} and {e["channel"] for e in heard.values()} == {"wideband"}
    assert all(heard[t["twin_of"]]["message_id"] == t["message_id"] for t in twins), "forgotten together"


async def test_a_twin_is_no_turn_and_comes_once(graph: Graph, space: str) -> None:
    await enrolled(graph, space, "Ben", sound("enrol_ben"))
    once = await graph.read(rows, EXEMPLARS, space=space)
    voices = await graph.read(list_voices, space, models.campplus().embedding_space)
    (voice,) = voices.values()
    assert voice.num_turns == sum(e["twin_of"] is None for e in once)
    await enrolled(graph, space, "Ben", sound("enrol_ben"), person_id=voice.person_id)
    assert await graph.read(rows, EXEMPLARS, space=space) == once


async def test_a_voice_that_opted_out_is_enrolled_by_nobody_unless_somebody_insists(graph: Graph, space: str) -> None:
    marker, encoder = Marker(bytes(32)), models.campplus()
    gallery = GalleryReader(graph, encoder.embedding_space, marker=lambda: marker)
    enrol = Enrol(graph, models.segmenter(), encoder, gallery, ask=AskConfig())
    ben = await enrol(space=space, name="Ben", waveform=sound("enrol_ben"), **AGREED)
    await record_consent(graph, space=space, person_id=ben, state=Consent.OPTED_OUT, marker=lambda: marker, **AGREED)
    with pytest.raises(VoiceOptedOut):
        await enrol(space=space, name="Bert", waveform=a_clip("Ben", 6), **AGREED)
    with pytest.raises(PersonOptedOut):  # by id, with a voice that no mark blocks
        await enrol(space=space, name="Ben", waveform=sound("enrol_nora"), person_id=ben, **AGREED)
    nora = await enrol(space=space, name="Nora", waveform=sound("enrol_nora"), **AGREED)
    again = await enrol(space=space, name="Ben", waveform=sound("enrol_ben"), **AGREED, although_opted_out=True)
    assert {p["id"]: set(p["exemplars"]) for p in await people(graph, space)} == {
        ben: set(),
        nora: {"granted"},
        again: {"granted"},
    }
