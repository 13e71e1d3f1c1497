"""What does Zoom tell by webhook: who is in the meeting, and where the transcript of its recording lies?

Read (2026): the pages on webhooks (`x-zm-signature: v0=` HMAC-SHA256 of `v0:timestamp:body`; `endpoint.url_validation` answered
within 3 s with `plainToken` and its HMAC in hex), on recording.transcript_completed (`download_token`, 24 hours) and
meeting.participant_joined (a real delivery in the developers' forum: user_id and participant_uuid change when somebody comes
again, `participant_user_id` is empty for who is not signed in). General knowledge, not read: that the token goes into
`Authorization: Bearer`, and that downloads lead on to other hosts of zoom.us.

The meeting is the `uuid` of this instance; `id` is the number that all of a series share. An e-mail is believed of who is
signed in; a registrant's is what they typed. The transcript's cues begin at the recording's start, not the meeting's; several
parts of a recording have several transcripts. Their names are display names, and nothing ties them to participants."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.connectors.declared import AccountsWithin, DeclaredLive, Signing, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field
from service.connectors.live import Delivery, EventUnreadable, Fetch, Read, SignatureWrong
from service.connectors.live.bodies import at_iso, document, hashed, id_of, keyed, need_id, reading
from service.connectors.live.fetched import Fetched, as_text, fetched_of, said_in
from service.connectors.live.signatures import WINDOW, verify_timestamp_body
from service.types.meeting import AccountKey, Base, Began, Ended, Joined, Left, MeetingEvent, Speaker

NAME = "zoom"
HOSTS = ("zoom.us", "zoomgov.com")
TRANSCRIBED = ("recording.transcript_completed", "recording.completed")
"""The former comes when the transcript is there; of the latter it is taken where the transcript is in it already."""


@dataclass(frozen=True, slots=True)
class Zoom:
    declared = DeclaredLive(
        NAME,
        "Zoom webhooks; the transcript of a cloud recording is fetched",
        ("webhook", "transcript", "participants"),
        TimeUnit.CLOCK,
        TimeBase.RECORDING,
        SpeakerScope.NAME,
        utterance_ids=None,
        repeats="the same body; recording.completed may name the transcript again, which is fetched once",
        signing=Signing.ZOOM,
        replay_seconds=WINDOW,
        accounts="participant_user_id; email of who is signed in",
        accounts_within=AccountsWithin.PROVIDER,
    )

    def verify(self, delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
        verify_timestamp_body(
            delivery,
            secrets,
            source=source,
            header="x-zm-signature",
            timestamp_header="x-zm-request-timestamp",
            prefix="v0=",
            before="v0:",
            joint=":",
        )

    def read(self, delivery: Delivery) -> Read:
        with reading(NAME):
            fetched = fetched_of(delivery)
            if fetched is not None:
                return _transcript(delivery, fetched)
            whole = document(delivery, NAME)
            told = whole["payload"]["object"]
            events = tuple(_events(whole["event"].value, told))
            fetches = tuple(_fetches(whole, told)) if whole["event"].value in TRANSCRIBED else ()
            if not events and not fetches:
                return Read(None, ())
            meeting = _meeting(told)
            return Read(meeting, keyed(meeting, events), fetches=fetches)

    def answer(self, delivery: Delivery, secrets: Sequence[str]) -> Mapping[str, object] | None:
        """With the secret that signed the question: while two hold, Zoom knows one."""
        if b"endpoint.url_validation" not in delivery.body:
            return None
        with reading(NAME):
            whole = document(delivery, NAME)
            if whole["event"].value != "endpoint.url_validation":
                return None
            plain = whole["payload"]["plainToken"].value
            if not isinstance(plain, str) or not plain:
                raise whole["payload"]["plainToken"].refuse("text")
        secret = next((secret for secret in secrets if self._signed(delivery, secret)), None)
        if secret is None:
            raise SignatureWrong(source=NAME, why="no secret of the source fits")
        signed = hmac.new(secret.encode(), plain.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return {"plainToken": plain, "encryptedToken": signed.hexdigest()}

    def _signed(self, delivery: Delivery, secret: str) -> bool:
        try:
            self.verify(delivery, [secret], source=NAME)
        except SignatureWrong:
            return False
        return True


def _meeting(told: Field) -> str:
    return id_of(told["uuid"]) or need_id(told["id"])


def _events(kind: object, told: Field) -> Iterator[MeetingEvent]:
    participant = told["participant"]
    match kind:
        case "meeting.started":
            yield Began(
                key="",
                at=at_iso(told["start_time"]),
                title=told["topic"].text(),
                zone=told["timezone"].text(),
                platform=NAME,
            )
        case "meeting.ended":
            yield Ended(key="", at=at_iso(told["end_time"]))
        case "meeting.participant_joined":
            yield Joined(key="", at=at_iso(participant["join_time"]), speaker=_speaker(participant))
        case "meeting.participant_left":
            yield Left(key="", at=at_iso(participant["leave_time"]), speaker=_speaker(participant))
        case _:
            return


def _speaker(participant: Field) -> Speaker:
    handle = id_of(participant["user_id"]) or id_of(participant["participant_uuid"])
    if handle is None:
        raise participant["user_id"].refuse("an id")
    account, email = id_of(participant.first_of("participant_user_id", "id")), id_of(participant["email"])
    signed_in = account is not None
    return Speaker(
        handle,
        name=participant["user_name"].label(),
        account=AccountKey(NAME, account) if account is not None else None,
        email=AccountKey("mailto", email.lower()) if email is not None and signed_in else None,
    )


def _fetches(whole: Field, told: Field) -> Iterator[Fetch]:
    token = whole["download_token"].value or whole["payload"]["download_token"].value
    for file in told["recording_files"]:
        if file["file_type"].value != "TRANSCRIPT":
            continue
        url = file["download_url"].value
        if not isinstance(url, str) or not url:
            raise file["download_url"].refuse("a URL")
        told_of = {
            "start": file["recording_start"].text(),
            "started": told["start_time"].text(),
            "title": told["topic"].text(),
            "zone": told["timezone"].text(),
        }
        yield Fetch(
            what="transcript",
            meeting=_meeting(told),
            url=url,
            hosts=HOSTS,
            token=token if isinstance(token, str) else None,
            carried={name: value for name, value in told_of.items() if value is not None},
        )


def _transcript(delivery: Delivery, fetched: Fetched) -> Read:
    """All that was said while this part of the recording ran."""
    start = fetched.carried.get("start")
    recorded = at_iso(Field(start, "recording_start", NAME))
    if recorded is None:
        raise EventUnreadable(provider=NAME, place="recording_start", what="missing; needed: when the recording began")
    began = Began(
        key="",
        at=at_iso(Field(fetched.carried.get("started"), "start_time", NAME)) or recorded,
        title=fetched.carried.get("title"),
        zone=fetched.carried.get("zone"),
        platform=NAME,
    )
    said = said_in(as_text(delivery, NAME), NAME, base=Base.EPOCH, offset=recorded.timestamp())
    events = keyed(fetched.meeting, (began, *said, Ended(key="")))
    return Read(fetched.meeting, events, delivery_key=hashed("fetched", fetched.what, fetched.meeting, start))


CONNECTOR = Zoom()
