"""Nobody names what somebody else vouches for."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.connectors.declared import AccountsWithin, DeclaredLive
from service.connectors.live import CONNECTORS, EventUnreadable, connector, declared_live
from service.connectors.live.generic_schema import parse
from service.connectors.live.sources import Source, SourcesUnreadable
from service.connectors.live.sources import parse as parse_sources
from service.connectors.live.vouched import vouched
from service.graph.accounts import account_id, canonical
from service.types.meeting import (
    NOBODY,
    AccountKey,
    AudioEncoding,
    Base,
    Began,
    Heard,
    Joined,
    Left,
    MeetingEvent,
    Renamed,
    Speaker,
    Spoke,
    Uttered,
)

WITHIN = {one.name: one.accounts_within for one in declared_live() if one.accounts is not None}
OPEN = Source(name="crm", provider="generic", space="home", issuers=("recall:zoom",), verified_email=True)
CLOSED = Source(name="crm", provider="generic", space="home")
GENERIC = connector("generic").declared


def events_of(speaker: Speaker) -> list[MeetingEvent]:
    times: dict[str, Any] = {"start": 1.0, "end": 2.0, "base": Base.MEETING}
    return [
        Began(key="", invited=(speaker, NOBODY)),
        Joined(key="", speaker=speaker),
        Left(key="", speaker=speaker),
        Renamed(key="", speaker=speaker),
        Spoke(key="", speaker=speaker, **times),
        Uttered(key="", speaker=speaker, text="Yes.", **times),
        Heard(key="", speaker=speaker, data=b"", encoding=AudioEncoding.S16, sample_rate=16_000),
    ]


def named(declared: DeclaredLive, key: AccountKey, source: str = "crm", configured: Source | None = None) -> AccountKey:
    """Under what it counts: the same in all kinds of events, as an account and as an e-mail address."""
    found = set()
    for event in vouched(events_of(Speaker("a", account=key, email=key)), declared, source, configured):
        speaker = event.invited[0] if isinstance(event, Began) else getattr(event, "speaker")  # noqa: B009
        found |= {speaker.account, speaker.email}
    (one,) = found
    assert one is not None
    return one


def test_ids_that_an_app_chooses_are_the_sources_own() -> None:
    assert WITHIN == {
        "recall": AccountsWithin.PROVIDER,
        "zoom": AccountsWithin.PROVIDER,
        "fireflies": AccountsWithin.PROVIDER,
        "attendee": AccountsWithin.SOURCE,
        "jitsi": AccountsWithin.SOURCE,
        "daily": AccountsWithin.SOURCE,
        "generic": AccountsWithin.SOURCE,
    }
    for name in ("jitsi", "daily", "attendee"):
        assert named(connector(name).declared, AccountKey(name, "1")) == AccountKey(f"{name}:crm", "1")
    assert named(connector("zoom").declared, AccountKey("zoom", "1")) == AccountKey("zoom", "1")


def test_livekits_identities_are_no_accounts() -> None:
    assert connector("livekit").declared.accounts is None


ISSUERS = st.sampled_from(["zoom", " Zoom", "recall:zoom", "mailto", "MAILTO ", "local", "jitsi:other", "generic:other:x"])


@given(issuer=ISSUERS | st.text(max_size=12), subject=st.text(min_size=1, max_size=5))
def test_a_generic_source_names_nobody_elses_accounts(issuer: str, subject: str) -> None:
    found = named(GENERIC, AccountKey(issuer, subject), configured=CLOSED)
    assert found.issuer.startswith("generic:crm") and found.subject == subject
    assert named(GENERIC, AccountKey(issuer, subject)) == found, "of a source that is gone nothing is listed"
    other = Source(name="crm", provider="jitsi", space="home", issuers=("zoom", issuer.strip().lower()))
    assert named(GENERIC, AccountKey(issuer, subject), configured=other) == found, "nor for what it was before"


@given(provider=st.sampled_from(sorted(CONNECTORS)), issuer=ISSUERS, one=st.sampled_from("ab"), other=st.sampled_from("cd"))
def test_two_sources_never_name_one_account_of_their_own(provider: str, issuer: str, one: str, other: str) -> None:
    declared, key = connector(provider).declared, AccountKey(issuer, "1")
    ids = {account_id("home", named(declared, key, source)) for source in (one, other)}
    assert len(ids) == (1 if declared.accounts_within is AccountsWithin.PROVIDER else 2)


def test_what_the_table_lists_is_what_it_is_whatever_its_case() -> None:
    for issuer, kept in (("Recall:Zoom ", "recall:zoom"), ("mailto", "mailto"), ("zoom", "generic:crm:zoom")):
        assert canonical(named(GENERIC, AccountKey(issuer, "1"), configured=OPEN)).issuer == kept


def test_who_comes_without_an_account_stays_as_they_are() -> None:
    events = events_of(NOBODY)
    assert list(vouched(events, GENERIC, "crm", OPEN)) == events


@pytest.mark.parametrize("issuer", ["local", "LOCAL", " Local "])
def test_the_issuer_of_our_own_tokens_is_refused(issuer: str) -> None:
    speaker = {"handle": "m", "account": {"issuer": issuer, "subject": "keeper"}}
    with pytest.raises(EventUnreadable, match="issuer"):
        parse(json.loads(json.dumps({"meeting": "m", "type": "joined", "speaker": speaker})))


TABLE = '[sources.crm]\nprovider = "generic"\nspace = "home"\n'


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('issuers = ["local"]', "local"),
        ('issuers = [" Mailto"]', "verified_email"),
        ('issuers = "zoom"', "a list"),
        ("issuers = [7]", "a list"),
        ('issuers = [""]', "a list"),
        ('verified_email = "yes"', "true or false"),
    ],
)
def test_a_table_that_would_open_too_much_is_refused(line: str, told: str) -> None:
    with pytest.raises(SourcesUnreadable, match=told):
        parse_sources(TABLE + line, Path("hooks.toml"))


def test_only_generic_sources_list_issuers() -> None:
    assert parse_sources(TABLE + 'issuers = ["Zoom"]\nverified_email = true', Path("x"))["crm"].issuers == ("zoom",)
    for line in ('issuers = ["zoom"]', "verified_email = true"):
        with pytest.raises(SourcesUnreadable, match="generic"):
            parse_sources(TABLE.replace("generic", "jitsi") + line, Path("hooks.toml"))


def test_an_event_has_its_time_still() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    (told,) = vouched([Joined(key="k", at=at, speaker=Speaker("a", account=AccountKey("zoom", "1")))], GENERIC, "crm", None)
    assert (told.key, told.at) == ("k", at)
