"""What does MeetingBaas v1 tell? One webhook with the whole transcript when the bot is done, and live who speaks, with sound.

Read in its documentation (2026): bot webhooks, streaming meeting data. General knowledge, not read: that status changes have
the shape of v2's. Times in a transcript are seconds, of who speaks milliseconds, though v2 says seconds of the same messages:
each is read as what it can be. A transcript made anew (`transcription_complete`) is not sent, only that it is there; it is not
fetched, for it has no ids by which it would take the old one's place.

Nothing is signed: the account's API key itself is in a header, and another secret, `token:…`, in the socket's URL. No
hello comes before the sound: `?meeting=…` and `?sample_rate=…` in the URL say what it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.connectors.declared import DeclaredLive, Signing, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, has, span
from service.connectors.live import Delivery, Read
from service.connectors.live.bodies import document, id_of, keyed, mapping, reading, within_meeting
from service.connectors.live.meetingbaas import began, hello, sound, speaking, told
from service.connectors.live.signatures import by_use, verify_shared_secret
from service.types.meeting import Ended, MeetingEvent

NAME = "meetingbaas_v1"
KEY = "x-meeting-baas-api-key"


@dataclass(frozen=True, slots=True)
class MeetingBaasV1:
    declared = DeclaredLive(
        NAME,
        "MeetingBaas v1, webhooks and streaming",
        ("webhook", "websocket", "transcript", "mixed audio"),
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.NAME,
        utterance_ids=None,
        repeats="the whole transcript again; an utterance by speaker and start",
        signing=Signing.SHARED_SECRET,
        metadata="data.extra, of complete",
    )

    def verify(self, delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
        keys, sent = by_use(secrets)
        if sent and KEY not in delivery.headers:
            verify_shared_secret(delivery, sent, source=source, parameter="token")
        else:
            verify_shared_secret(delivery, keys, source=source, header=KEY)

    def read(self, delivery: Delivery) -> Read:
        if delivery.binary:
            return sound(delivery, NAME)
        with reading(NAME):
            if delivery.body.lstrip().startswith(b"["):
                return speaking(delivery, NAME)
            whole = document(delivery, NAME)
            if has(whole.value, "protocol_version", "bot_id"):
                return hello(whole)
            if whole["event"].text() is None:
                raise whole["event"].refuse("the kind of event")
            bot = id_of(whole["data"]["bot_id"])
            events = keyed(bot, _events(whole["event"].text() or "", whole["data"]))
            if events and bot is None:
                raise whole["data"]["bot_id"].refuse("the id of the bot")
            return Read(bot if events else None, events, metadata=mapping(whole["data"]["extra"]))

    def answer(self, delivery: Delivery, secrets: Sequence[str]) -> Mapping[str, object] | None:
        return None


def _events(kind: str, data: Field) -> Iterator[MeetingEvent]:
    if kind == "complete":
        for part in data["transcript"]:
            yield from _part(part)
        yield Ended(key="")
    elif kind == "failed":
        yield Ended(key="", failed=data["error"].text() or kind)
    elif kind in ("bot.status_change", "status_change"):
        yield from began(data["status"])


def _part(part: Field) -> Iterator[MeetingEvent]:
    words = [word for word in part["words"] if word["word"].text()]
    starts = [within_meeting(word["start"]) for word in words]
    ends = [within_meeting(word["end"]) for word in words]
    start = within_meeting(part.first_of("start_time", "offset"))
    segment = span(
        start if start is not None else next((s for s in starts if s is not None), None),
        within_meeting(part["end_time"]) or max((end for end in ends if end is not None), default=start),
    )
    if segment is None:
        raise part["start_time"].refuse("start_time and end_time in seconds, or words with times")
    yield from told(part, segment, part["speaker"])


CONNECTOR = MeetingBaasV1()
