"""What the connectors state of themselves is what the page says, and in words that there are."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from service.connectors.declared import DeclaredLive, Signing
from service.connectors.live import CONNECTORS, connector, declared_live
from service.connectors.live.__main__ import page
from service.connectors.live.sources import Source

ROOT = Path(__file__).parents[4]
CARRIES = (
    "webhook",
    "websocket",
    "transcript",
    "partials",
    "participants",
    "mixed audio",
    "audio per participant",
)


def test_the_page_of_backends_is_what_they_declare() -> None:
    assert page() == (ROOT / "service/connectors/LIVE.md").read_text()
    assert [declared.name for declared in declared_live()] == list(CONNECTORS)


def test_the_page_of_backends_tells_every_field_that_a_source_has() -> None:
    assert all(f"`{field.name}`" in page() for field in fields(Source) if field.name != "name")


@pytest.mark.parametrize("declared", declared_live(), ids=lambda declared: declared.name)
def test_what_a_backend_carries_is_said_in_known_words_and_in_their_order(declared: DeclaredLive) -> None:
    assert declared.carries == tuple(what for what in CARRIES if what in declared.carries)
    has_time = declared.signing in (Signing.WEBHOOK_ID, Signing.TIMESTAMP_BODY, Signing.ZOOM, Signing.JWT)
    assert has_time == (declared.replay_seconds is not None)


@pytest.mark.parametrize("provider", CONNECTORS)
def test_a_connector_is_found_by_the_name_that_it_states(provider: str) -> None:
    assert connector(provider).declared.name == provider
