"""Other models than the default's go through the whole line: into their own properties, and back out by voice or text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from service.audio.diarise import Diariser
from service.audio.encoders import load_encoder
from service.graph import migrate
from service.graph.driver import Graph, rows
from service.graph.voices import list_voices
from service.identity.ask import AskConfig, verify
from service.identity.router import RouterConfig
from service.identity.thresholds import thresholds_for
from service.language.embed import load_text_embedder
from service.pipelines.clip import main_voice
from service.pipelines.ingest import Ingest, IngestRequest
from service.types.audio import SpeakerEncoder
from service.types.people import VoiceOutcome
from tests import models
from tests.unit.audio.models import household_ecapa, household_titanet
from tests.unit.audio.speech import HOUSEHOLD, sound

MADE = {"ecapa": household_ecapa, "titanet": household_titanet}
DAY = IngestRequest(HOUSEHOLD / "day1.ogg", "", transcript=HOUSEHOLD / "day1.vtt")

VOICES = """
MATCH (p:Person {space: $space})-[r:SPEAKS]->(m:Message)<-[:UTTERED]-(l:LocalSpeaker)
RETURN p.id AS id, [name IN keys(p) WHERE name STARTS WITH 'voiceprint__'] AS properties, r.encoder AS encoder,
       r.decision AS decision, l.label AS label
"""
EMBEDDED = """
MATCH (m:Message {space: $space}) WHERE m.text IS NOT NULL
RETURN [name IN keys(m) WHERE name STARTS WITH 'embedding__'] AS properties, size(m.embedding__minilm_l6_v2__turn) AS dimension
"""


@pytest.fixture(params=sorted(MADE))
def encoder(request: pytest.FixtureRequest, model_cache: Path) -> SpeakerEncoder:
    source = MADE[request.param](model_cache)
    return load_encoder(request.param, source=str(source), cache=model_cache, device="cpu")


async def test_another_encoder_fills_its_own_voiceprint_and_is_asked_by_voice(
    graph: Graph, space: str, encoder: SpeakerEncoder
) -> None:
    name = encoder.embedding_space.name
    thresholds = thresholds_for(name)
    ingest = Ingest(graph, models.segmenter(), encoder, router=RouterConfig(thresholds=thresholds))
    await ingest(IngestRequest(DAY.path, space, transcript=DAY.transcript))
    found = await graph.read(rows, VOICES, space=space)
    assert {row["encoder"] for row in found} == {name}
    assert all(row["properties"] in ([], [f"voiceprint__{name}"]) for row in found)
    ben = Counter(row["id"] for row in found if row["label"] == "Ben").most_common(1)[0][0]

    gallery = await graph.read(list_voices, space, encoder.embedding_space)
    asked = main_voice(Diariser(models.segmenter(), encoder), sound("enrol_ben"))
    verdict = verify([e for _, e in asked.embedded], asked.net_speech, gallery, AskConfig(thresholds=thresholds))
    assert (verdict.outcome, verdict.person_id) == (VoiceOutcome.ACCEPT, ben)


async def test_voices_of_one_encoder_are_nobody_to_another(graph: Graph, space: str, model_cache: Path) -> None:
    tiny = load_encoder("ecapa", source=str(household_ecapa(model_cache)), cache=model_cache, device="cpu")
    ingest = Ingest(graph, models.segmenter(), tiny, router=RouterConfig(thresholds=thresholds_for("ecapa")))
    await ingest(IngestRequest(DAY.path, space, transcript=DAY.transcript))
    assert await graph.read(list_voices, space, models.campplus().embedding_space) == {}
    assert await graph.read(list_voices, space, tiny.embedding_space)


async def test_a_sentence_transformers_model_goes_through_the_whole_line(graph: Graph, space: str, model_cache: Path) -> None:
    embedder = load_text_embedder("minilm", model_cache)
    await migrate.ensure_text_space(graph, embedder.embedding_space.name, embedder.embedding_space.dimension)
    router = RouterConfig(thresholds=thresholds_for("campplus"))
    ingest = Ingest(graph, models.segmenter(), models.campplus(), router=router, text_embedder=embedder)
    await ingest(IngestRequest(DAY.path, space, transcript=DAY.transcript))
    found = await graph.read(rows, EMBEDDED, space=space)
    assert found and all(row["dimension"] == embedder.embedding_space.dimension for row in found)
    expected = ["embedding__minilm_l6_v2__context", "embedding__minilm_l6_v2__turn"]
    assert all(sorted(row["properties"]) == expected for row in found)
