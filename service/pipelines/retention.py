"""How long is what kept? The schedule of a space, from where personal data lives and from its policies; and the sessions whose
time has come, erased like any other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from graph_schema.stores import STORES
from service.graph.driver import Graph
from service.graph.retention import list_expired_sessions
from service.pipelines.erase import Erase
from service.types.erasure import Subject, SubjectKind
from service.types.people import AnonymousVoices, OptOuts, SpaceSettings

RETENTION = "retention"
"""`asked_by` of the receipts of what the schedule erased."""


@dataclass(frozen=True, slots=True)
class RetentionConfig:
    most: int = 100  # sessions erased by one sweep: some seconds each, and the next is ten minutes later


@dataclass(frozen=True, slots=True)
class Kept:
    """One row of the schedule: of one place where personal data lives."""

    store: str
    holds: str
    where: str
    until: str
    """In words, with the days of the space's own policies."""
    erased: str
    """How it goes besides, and by what."""


def schedule(settings: SpaceSettings, question_days: float) -> tuple[Kept, ...]:
    """Every place of `graph_schema/stores.py`. `question_days`: as the service is set."""
    until = _until(settings, question_days)
    return tuple(
        Kept(store.name, store.holds, store.where, until.get(store.name, _OTHERWISE), store.erased_by)
        for store in STORES
        if store.built
    )


async def expire_sessions(
    graph: Graph,
    erase: Callable[[], Awaitable[Erase]],
    incident: Callable[[Exception], object],
    now: datetime | None = None,
    config: RetentionConfig = RetentionConfig(),
) -> int:
    """Erase what was kept as long as its space keeps it, with everything that was made of it and a receipt; how many sessions.
    What fails is logged, and tried again by the next sweep."""
    found = await graph.read(list_expired_sessions, now or datetime.now(UTC), config.most)
    done = 0
    for space, session in found:
        try:
            subject = Subject(SubjectKind.SESSION, session)
            await (await erase())(space, subject, asked_by=RETENTION, why="kept as long as the space keeps it")
            done += 1
        except Exception as error:  # noqa: BLE001 - logged; one session must not keep others longer than they may be
            incident(error)
    return done


_OTHERWISE = "until it is erased, or goes with what it is of"


def _until(settings: SpaceSettings, question_days: float) -> Mapping[str, str]:
    session = _days(settings.session_days) if settings.session_days else "until it is erased"
    with_session = f"as the session it is of: {session}" if settings.session_days else _OTHERWISE
    of_session = ("messages", "images", "facts", "left brain", "names proposed", "fold checkpoints")
    return {
        **dict.fromkeys(of_session, with_session),
        "sessions": f"{session} after it was held, or written, whichever is later" if settings.session_days else session,
        "people": "until they are erased, or with the last session that they are known from",
        "voices": _voices(settings),
        "channel means": "as long as the voices that they are made of",
        "right brain": "never: the space is a workplace" if settings.workplace else "until they take their consent back",
        "kept sound": _sounds(settings),
        "questions": f"{question_days:g} days" if question_days else "not at all",
        "opt-outs": _opt_outs(settings),
        "consents": "as proof, until the space goes",
        "receipts": "as proof, until the space goes",
        "audit": "as proof, until the space goes",
        "events": "7 days",
        "webhooks": "what became of each delivery: 7 days",
        "uploads": "24 hours after the last use; clips of a voice: 1 hour",
        "answers of a language model": "30 days",
        "inbox": "72 hours after the meeting's end",
        "sound of meetings": "until it was listened to, 72 hours at most",
        "dead letters": "30 days",
    }


def _voices(settings: SpaceSettings) -> str:
    heard = f"{_days(settings.voice_days)} after they were last heard" if settings.voice_days else ""
    asked = f"of who agreed, until they take it back{heard and ', at most ' + heard}"
    match settings.anonymous_voices:
        case AnonymousVoices.EPHEMERAL:
            return f"of people never asked, not at all; {asked}"
        case AnonymousVoices.EXPIRE:
            return f"of people never asked, {_days(settings.anonymous_days)}; {asked}"
        case AnonymousVoices.KEEP:
            return f"of people never asked, {heard or 'until they are erased'}; {asked}"


def _sounds(settings: SpaceSettings) -> str:
    if settings.workplace:
        return "never: the space is a workplace"
    pieces = "with pieces of the sound" if settings.keeps_sound else "no sound itself"
    return f"{_days(settings.sound_days)}, of who agreed, {pieces}"


def _opt_outs(settings: SpaceSettings) -> str:
    if settings.opt_outs is OptOuts.IDS:
        return "marks of logins alone, until they agree"
    return "until they agree; it outlives their erasure, as they asked for"


def _days(days: int | None) -> str:
    return f"{days} day{'' if days == 1 else 's'}"
