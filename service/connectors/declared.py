"""What does a connector state of its source, so that nothing downstream guesses?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class TimeUnit(StrEnum):
    """How the source writes times. Behind the connector they are seconds."""

    SECONDS = "seconds"
    MILLISECONDS = "milliseconds"
    CLOCK = "hh:mm:ss"
    ISO_DURATION = "PT1.5S, or ticks of 100 ns"
    PROTO_DURATION = "1.200s"


class TimeBase(StrEnum):
    """What times count from."""

    RECORDING = "start of the recording"
    CONNECTION = "start of each connection"
    """Two connections in one file cannot be put in order: refused."""
    EPOCH = "1970 (UTC); made relative to the first turn"


class SpeakerScope(StrEnum):
    """Within what a speaker's label means one speaker. None of them says who it is: a label is evidence."""

    NOBODY = "no speakers"
    FILE = "label of this file"
    NAME = "display name, any of which two may share"
    ROLE = "role in the call"
    PARTICIPANT = "participant of the meeting"


@dataclass(frozen=True, slots=True)
class Declared:
    """One connector's statement."""

    name: str
    """As `--format` takes it, and as `provenance` of a message shows it: transcript:<name>."""
    source: str
    """Who writes it."""
    times: TimeUnit
    base: TimeBase
    speakers: SpeakerScope
    utterance_ids: str | None = None
    """Where an id of each utterance stands; None: there is none."""
    repeats: str | None = None
    """What saying the same thing twice looks like, and what is kept of it; None: a file says everything once."""
    times_words: bool = False
    """Whether words have times of their own."""


class Signing(StrEnum):
    """How a delivery proves where it comes from."""

    WEBHOOK_ID = "HMAC-SHA256 of id.timestamp.body"
    """Standard Webhooks (svix, `whsec_…`)."""
    TIMESTAMP_BODY = "HMAC-SHA256 of timestamp.body"
    BODY = "HMAC-SHA256 of the body"
    CANONICAL_JSON = "HMAC-SHA256 of the body as canonical JSON"
    ZOOM = "HMAC-SHA256 of v0:timestamp:body"
    JWT = "JWT with the body's SHA-256"
    SHARED_SECRET = "the secret itself in a header"
    TOKEN = "a token of ours with scope ingest"


class AccountsWithin(StrEnum):
    """Within what an account that a delivery names is one login."""

    PROVIDER = "the provider"
    """Its own service gives them, to all who use it."""
    SOURCE = "the source"
    """Whoever runs it, or an app of theirs, chooses them: the same id from another source may be somebody else."""


@dataclass(frozen=True, slots=True)
class DeclaredLive:
    """One live connector's statement."""

    name: str
    """As a source's `provider`, and as `provenance` of a message shows it: live:<name>."""
    source: str
    """Who sends it, with the version of the protocol."""
    carries: tuple[str, ...]
    """Of: webhook, websocket, transcript, partials, participants, mixed audio, audio per participant."""
    times: TimeUnit
    base: TimeBase
    speakers: SpeakerScope
    utterance_ids: str | None
    """Where an id of each utterance stands that is the same from partial to final; None: there is none."""
    repeats: str
    """What a repeat looks like, and by what it is known."""
    signing: Signing
    replay_seconds: float | None = None
    """How old a signed delivery may be; None: its signature has no time."""
    accounts: str | None = None
    """What of it names somebody beyond the meeting; None: nothing does."""
    also: tuple[Signing, ...] = ()
    """Other ways that are taken as well."""
    accounts_within: AccountsWithin = AccountsWithin.SOURCE
    """Where such an account is the same one: a binding holds no further."""
    metadata: str | None = None
    """Where, in what a bot tells, the metadata stands that whoever sent the bot gave it: a field of it may say which meeting it
    is in (a source's `meeting_from`), where several bots are. None: nothing of the kind comes with it."""
    needs_api_key: bool = False
    """What it points to is fetched with the source's `api_key`."""
    finals_hold: bool = False
    """What was final stays as it is, also where another final comes under its id: those are another segment's words
    (CASES 5). False: a later final is its correction."""


def table(declared: Iterable[Declared]) -> str:
    """The statements as a Markdown table, one row each."""
    head = ("format", "from", "times", "count from", "speakers", "ids of utterances", "word times", "said twice")
    return markdown_table(
        head,
        *(
            (
                f"`{d.name}`",
                d.source,
                d.times,
                d.base,
                d.speakers,
                d.utterance_ids or "–",
                "yes" if d.times_words else "–",
                d.repeats or "–",
            )
            for d in declared
        ),
    )


def live_table(declared: Iterable[DeclaredLive]) -> str:
    """The statements as a Markdown table, one row each."""
    head = (
        "provider",
        "from",
        "carries",
        "times",
        "count from",
        "speakers",
        "ids of utterances",
        "said twice",
        "signed by",
        "at most so old",
        "known beyond the meeting by",
        "metadata of a bot",
    )
    return markdown_table(
        head,
        *(
            (
                f"`{d.name}`",
                d.source,
                ", ".join(d.carries),
                d.times,
                d.base,
                d.speakers,
                d.utterance_ids or "–",
                f"{d.repeats}; a second final changes nothing" if d.finals_hold else d.repeats,
                "; or ".join((d.signing, *d.also)),
                "–" if d.replay_seconds is None else f"{d.replay_seconds:g} s",
                "–" if d.accounts is None else f"{d.accounts}; within {d.accounts_within}",
                d.metadata or "–",
            )
            for d in declared
        ),
    )


def markdown_table(head: Sequence[str], *rows: Sequence[str]) -> str:
    """Rows of text below their head, without a last newline."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" if line[0] != "---" else f"|{'|'.join(line)}|" for line in lines)
