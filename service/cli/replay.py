"""A recorded meeting, sent to a running service as its provider would have sent it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.running import AsJson
from service.cli.shown import Bars, show, table
from service.errors import VoicegraphError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from service.connectors.live.playing.outgoing import Report

SECRET = "VOICEGRAPH_REPLAY_SECRET"


class ReplaySecretMissing(VoicegraphError):
    code = "replay_secret_missing"
    says = "{name} is not set; needed: a secret of the source, as hooks.toml names it, to sign with."


def replay(
    recording: Annotated[Path, typer.Argument(metavar="MEETING.JSONL", exists=True, dir_okay=False, help="Recorded meeting.")],
    to: Annotated[str, typer.Option("--to", metavar="URL", help="http://…/v1/hooks/SOURCE of a running service.")],
    provider: Annotated[
        str, typer.Option(help="Whose protocol: generic, recall, vexa, attendee, meetingbaas, jitsi, livekit, pipecat, daily.")
    ] = "generic",
    secret_env: Annotated[str, typer.Option(metavar="NAME", help="Environment variable with the source's secret.")] = SECRET,
    speed: Annotated[float, typer.Option(min=0.01, max=100_000, help="Times as fast as it was.")] = 1.0,
    shuffle: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Each delivery comes up to so many meeting seconds late.")
    ] = 0.0,
    duplicate: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="Of the deliveries, which come again under another id.")
    ] = 0.0,
    drop_connection: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="Of the deliveries, cut before the answer and sent again.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of the dice for the three above.")] = 0,
    meeting: Annotated[str | None, typer.Option(metavar="ID", help="Another id, to play it as another meeting.")] = None,
    now: Annotated[bool, typer.Option("--now", help="As if it began now, not when it did.")] = False,
    as_json: AsJson = False,
) -> None:
    """Play a recorded meeting against a running service.

    The file has a message of the generic protocol on each line (service/connectors/GENERIC.md). Playing it again adds
    nothing; with --meeting it is another meeting.

    Example: voicegraph replay deploy/examples/meeting.jsonl --to http://127.0.0.1:8460/v1/hooks/mine --speed 10
    """
    from service.connectors.live.playing import Played, player
    from service.connectors.live.playing.recorded import Manner, moved, read_recorded, rehearsed, with_names
    from service.connectors.live.playing.sending import Sender

    playing = player(provider)
    secret = os.environ.get(secret_env, "")
    if not secret:
        raise ReplaySecretMissing(name=secret_env)
    told = read_recorded(recording)
    if now or told.began_at is None:
        told = moved(told, datetime.now(UTC).replace(microsecond=0))
    if meeting is not None:
        told = replace(told, meeting=meeting)
    if provider != "generic":
        told = with_names(told)
    assert told.began_at is not None
    sender = Sender(to, playing, Played(told.meeting, told.began_at), secret)
    manner = Manner(speed=speed, shuffle=shuffle, duplicate=duplicate, drop=drop_connection, seed=seed)
    with Bars() as bars:
        report = asyncio.run(sender.send(rehearsed(told, manner), bars(told.meeting)))
    show({"meeting": told.meeting, "provider": provider, "report": report}, as_json, lambda: _drawn(told.meeting, report))


def _drawn(meeting: str, report: Report) -> RenderableType:
    answers = ", ".join(f"{count} × {status}" for status, count in sorted(report.statuses.items()))
    left_out = ", ".join(f"{count} {kind}" for kind, count in report.left_out.items())
    acked = None if report.ack_p50_ms is None else f"p50 {report.ack_p50_ms} ms, p95 {report.ack_p95_ms} ms"
    rows = [
        ("deliveries", f"{report.deliveries} in {report.seconds:.1f} s, {report.duplicates} of them once more"),
        ("answers", answers or None),
        ("acknowledged after", acked),
        ("connections cut", report.cut),
        ("sent again", report.again),
        ("not told by this provider", left_out or None),
    ]
    return table(("meeting", meeting), rows)
