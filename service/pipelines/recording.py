"""What was handed in? A recording with what its owner knows of it, and by what it is known again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from service.audio import decode
from service.connectors.files import TranscriptUnreadable
from service.errors import InvalidInput, VoicegraphError
from service.graph.write_sessions import NewSession
from service.pipelines.closing import CallerKnows
from service.types.audio import AudioInfo, EmbeddingSpace
from service.types.ids import derived
from service.types.memory import Attendance


class WrongContent(VoicegraphError):
    code = "wrong_content"
    says = "{path} has the hash {given}; expected: {needed}. It was changed or cut off on the way; send it again."
    http_status = 422


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """A recording, or a transcript by itself, and what its owner knows of it."""

    path: Path
    space: str
    session_id: str | None = None
    """None: it follows from the recording."""
    title: str | None = None
    """None: the file's name."""
    started_at: datetime | None = None
    """With a time zone. None: when the file was last written."""
    zone: str | None = None
    """Where it was recorded, e.g. Europe/Vienna; None: the zone of `started_at`."""
    transcript: Path | None = None
    """In a format of service.connectors.files; with speakers in it, its boundaries are taken instead of the diariser's."""
    format: str | None = None
    """Of the transcript: of `transcript`, else of `path` itself, which is then no recording. None: found by its content."""
    addressed_to: tuple[str, ...] = ()
    attendance: tuple[Attendance, ...] = ()
    roster: tuple[str, ...] = ()
    """As in CallerKnows: person ids."""
    sha256: str | None = None
    """What the file's bytes should hash to."""
    again: bool = False
    """Where it is there with other models, another transcript or date, it takes the place of that, as a new revision."""
    stream: str | None = None
    """Id of the stream that `path` is the sound of: known by it, for its turns are written before the sound is whole."""
    source: str = "file"

    @property
    def caller_knows(self) -> CallerKnows:
        return CallerKnows(self.addressed_to, self.attendance, self.roster)


@dataclass(frozen=True, slots=True)
class Models:
    """What a session is ingested with; another one gives another result."""

    voice: EmbeddingSpace
    text: EmbeddingSpace | None
    recogniser: str | None


def new_session(request: IngestRequest, info: AudioInfo, models: Models) -> NewSession:
    """The session to write. Raises WrongContent, TranscriptUnreadable, InvalidInput."""
    _check(request, info)
    sound = _sound(request, info)
    started_at = request.started_at or datetime.fromtimestamp(request.path.stat().st_mtime, UTC)
    return NewSession(
        id=request.session_id or derived("session", request.space, sound),
        space=request.space,
        title=request.title or request.path.stem,
        started_at=started_at.astimezone(UTC),
        zone=request.zone or (str(request.started_at.tzinfo) if request.started_at else None),
        source=request.source,
        external_id=sound,
        content_hash=content_hash(request, info, models),
        roster=request.roster,
        duration=info.duration,
        encoder=models.voice.name,
        embedder=models.text.name if models.text else None,
        transcript=decode.sha256(request.transcript) if request.transcript else None,
        again=request.again,
    )


def content_hash(request: IngestRequest, info: AudioInfo, models: Models) -> str:
    """Of everything that what is written depends on; not of title and path, by which the same recording may come again."""
    given = {
        "sound": _sound(request, info),
        "transcript": decode.sha256(request.transcript) if request.transcript else None,
        "started_at": request.started_at and request.started_at.astimezone(UTC).isoformat(),
        "zone": request.zone,
        "addressed_to": sorted(request.addressed_to),
        "attendance": [[a.person_id, a.source, [[i.start, i.end] for i in a.intervals]] for a in request.attendance],
        "roster": sorted(request.roster),
        "voice": [models.voice.name, models.voice.version],
        "text": [models.text.name, models.text.version] if models.text else None,
        "recogniser": models.recogniser,
        **({"format": request.format} if request.format else {}),
    }
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()


def _sound(request: IngestRequest, info: AudioInfo) -> str:
    """By what it is known again."""
    return info.sha256 if request.stream is None else f"stream:{request.stream}"


def _check(request: IngestRequest, info: AudioInfo) -> None:
    """Raises WrongContent, TranscriptUnreadable, InvalidInput."""
    if request.transcript is not None and not request.transcript.is_file():
        raise TranscriptUnreadable(source=request.transcript.name, place="the whole file", what="there is no such file.")
    if request.sha256 is not None and request.sha256 != info.sha256:
        raise WrongContent(path=request.path.name, given=info.sha256, needed=request.sha256)
    if request.started_at is not None and request.started_at.utcoffset() is None:
        raise InvalidInput(what="started_at", given=request.started_at.isoformat(), needed="a time with its zone, e.g. …+01:00")
