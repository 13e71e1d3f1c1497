"""What does Fireflies tell: that a transcript is there, which is then fetched, and live pieces that a client passes on?

Read (2026): the pages on webhooks (v1 `{meetingId, eventType: "Transcription completed"}`; v2 `{event: "meeting.transcribed",
timestamp, meeting_id}`; `X-Hub-Signature: sha256=` HMAC of the body, without a time), on the GraphQL schema (Transcript,
Sentence, MeetingAttendee) and on the realtime API, which is a Socket.IO connection that you open: what comes on it
(`transcription.broadcast`) is passed on by a client of yours, as it is, signed as the webhooks are. General knowledge, not
read: that `date` is in milliseconds, as the files' reader takes it, and that a repeat of a webhook has the same body.

The API key is the source's `api_key`. Live pieces and sentences have no ids in common; one who speaks is a name in the former
and a number with a name in the latter: what is the same line is told by what was said when, if it is not by another name.
Invited people are of the calendar: a roster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from service.connectors.declared import AccountsWithin, DeclaredLive, Signing, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, has, span
from service.connectors.live import Delivery, EventUnreadable, Fetch, Read
from service.connectors.live.bodies import at_epoch, document, hashed, id_of, keyed, need_id, reading
from service.connectors.live.fetched import Fetched, fetched_of
from service.connectors.live.signatures import verify_body
from service.types.meeting import NOBODY, AccountKey, Base, Began, Ended, MeetingEvent, Speaker, Uttered

NAME = "fireflies"
API = "https://api.fireflies.ai/graphql"
READY = ("meeting.transcribed", "Transcription completed")
QUERY = """query Transcript($id: String!) {
  transcript(id: $id) {
    id title date duration
    meeting_attendees { displayName name email }
    sentences { index speaker_id speaker_name text start_time end_time }
  }
}"""


@dataclass(frozen=True, slots=True)
class Fireflies:
    declared = DeclaredLive(
        NAME,
        "Fireflies: webhooks v1 and v2, after which the transcript is fetched; realtime events as a client passes them on",
        ("webhook", "transcript"),
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.PARTICIPANT,
        utterance_ids="chunk_id, of live pieces; index, of sentences",
        repeats="the same body; the same chunk_id, of which the last text holds",
        signing=Signing.BODY,
        accounts="email of who was invited",
        accounts_within=AccountsWithin.PROVIDER,
        needs_api_key=True,
    )

    def verify(self, delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
        verify_body(delivery, secrets, source=source)

    def read(self, delivery: Delivery) -> Read:
        with reading(NAME):
            fetched = fetched_of(delivery)
            whole = document(delivery, NAME)
            if fetched is not None:
                return _transcript(whole, fetched)
            told = whole["data"] if whole["event"].value == "transcription.broadcast" else whole
            if has(told.value, "chunk_id"):
                meeting = need_id(told["transcript_id"])
                return Read(meeting, keyed(meeting, _live(told)))
            if whole.first_of("event", "eventType").value not in READY:
                return Read(None, ())
            meeting = need_id(whole.first_of("meeting_id", "meetingId"))
            return Read(meeting, (), fetches=(_ask(meeting),))

    def answer(self, delivery: Delivery, secrets: Sequence[str]) -> Mapping[str, object] | None:
        return None


def _ask(meeting: str) -> Fetch:
    query = {"query": QUERY, "variables": {"id": meeting}}
    return Fetch(what="transcript", meeting=meeting, url=API, hosts=("api.fireflies.ai",), query=query, needs_api_key=True)


def _live(told: Field) -> Iterator[MeetingEvent]:
    """A piece may be put right again and again; nothing says that it is done, so each is final until the next."""
    text = told["text"].text()
    if text is not None:
        name = told["speaker_name"].label()
        yield _said(told, text, NOBODY if name is None else Speaker(None, name=name), f"chunk {need_id(told['chunk_id'])}")


def _transcript(whole: Field, fetched: Fetched) -> Read:
    told = whole["data"]["transcript"]
    if told.value is None:
        what = "missing; the API knows no such transcript, or the key may not see it"
        raise EventUnreadable(provider=NAME, place="data.transcript", what=what)
    events = keyed(fetched.meeting, _all(told))
    return Read(fetched.meeting, events, delivery_key=hashed("fetched", fetched.what, fetched.meeting))


def _all(told: Field) -> Iterator[MeetingEvent]:
    minutes = told["duration"].number()
    invited = tuple(_invited(told["meeting_attendees"]))
    yield Began(key="", at=at_epoch(told["date"], 1000), title=told["title"].text(), invited=invited)
    for place, sentence in enumerate(told["sentences"]):
        text = sentence["text"].text()
        if text is not None:
            handle, name = id_of(sentence["speaker_id"]), sentence["speaker_name"].label()
            speaker = NOBODY if handle is None and name is None else Speaker(handle or name, name=name)
            said = _said(sentence, text, speaker, f"sentence {id_of(sentence['index']) or place}")
            yield replace(said, source="transcript")
    yield Ended(key="", duration=None if minutes is None or not 0 <= minutes < 1e5 else minutes * 60)


def _invited(attendees: Field) -> Iterator[Speaker]:
    for attendee in attendees:
        email, name = id_of(attendee["email"]), attendee.first_of("displayName", "name").label()
        if email is not None or name is not None:
            yield Speaker(None, name=name, email=None if email is None else AccountKey("mailto", email.lower()))


def _said(told: Field, text: str, speaker: Speaker, id: str) -> Uttered:
    time = span(told["start_time"].number(), told["end_time"].number())
    if time is None:
        raise told["start_time"].refuse("start_time and end_time")
    if not 0 <= time.start <= time.end < 1e6:
        raise told["start_time"].refuse("seconds since the meeting's start")
    return Uttered(key="", speaker=speaker, text=text, start=time.start, end=time.end, base=Base.MEETING, id=id)


CONNECTOR = Fireflies()
