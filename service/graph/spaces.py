"""Which policies does a tenant have, and who may write its identities right now?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from service.errors import NotFound
from service.graph.driver import Tx, rows
from service.graph.forget_inferred import forget_all_inferred
from service.graph.forget_sounds import obey_sound_policy
from service.graph.voice_days import settle_voice_days
from service.graph.write_events import save_erased
from service.types.events import Erased
from service.types.ids import fresh
from service.types.people import SOUND_DAYS, AccessPolicy, AnonymousVoices, OptOuts, SpaceSettings, VoiceAccess

FIND_SPACE = """
MATCH (s:Space {id: $space})
RETURN s {.id, .access, .routing, .voice_access, .anonymous_voices, .anonymous_days, .workplace, .keeps_sound, .sound_days,
          .session_days, .voice_days, .opt_outs, .identity_revision} AS space
"""

ENSURE_SPACE = """
MERGE (s:Space {id: $space})
ON CREATE SET s += $policies, s.identity_revision = 0, s.created_at = datetime()
"""

SAVE_SPACE = """
MERGE (s:Space {id: $space})
ON CREATE SET s.identity_revision = 0, s.created_at = datetime()
SET s += $policies
"""

LIST_SPACES = """
MATCH (s:Space)
RETURN s {.id, .access, .routing, .voice_access, .anonymous_voices, .anonymous_days, .workplace, .keeps_sound, .sound_days,
          .session_days, .voice_days, .opt_outs, .identity_revision} AS space
ORDER BY s.id
"""

LIST_MADE = """
MATCH (s:Space) WHERE s.id IN $spaces AND s.created_at IS NOT NULL
RETURN s.id AS id, s.created_at AS at
"""

LIST_SPACES_OF_EXPIRED_VOICES = """
MATCH (e:Exemplar) WHERE e.expires_at <= $now
WITH DISTINCT e.space AS id
MATCH (s:Space {id: id})
RETURN s {.id, .access, .routing, .voice_access, .anonymous_voices, .anonymous_days, .workplace, .keeps_sound, .sound_days,
          .session_days, .voice_days, .opt_outs, .identity_revision} AS space
ORDER BY s.id
"""

LOCK_SPACE = """
MATCH (s:Space {id: $space})
SET s.created_at = s.created_at
"""

BUMP_REVISION = """
MATCH (s:Space {id: $space})
SET s.identity_revision = s.identity_revision + 1
RETURN s.identity_revision AS revision
"""


async def find_space(tx: Tx, space: str) -> SpaceSettings | None:
    found = await rows(tx, FIND_SPACE, space=space)
    return _settings(found[0]["space"]) if found else None


async def get_space(tx: Tx, space: str) -> SpaceSettings:
    settings = await find_space(tx, space)
    if settings is None:
        raise NotFound(kind="space", id=space)
    return settings


async def list_spaces(tx: Tx) -> list[SpaceSettings]:
    return [_settings(row["space"]) for row in await rows(tx, LIST_SPACES)]


async def list_made(tx: Tx, spaces: Sequence[str]) -> dict[str, datetime]:
    """When each of them that there is was made, UTC."""
    return {row["id"]: row["at"] for row in await rows(tx, LIST_MADE, spaces=list(spaces))}


async def list_spaces_of_expired_voices(tx: Tx, now: datetime) -> list[SpaceSettings]:
    """Those with an exemplar that had to be gone by `now`: of thousands of spaces, one read finds the few."""
    return [_settings(row["space"]) for row in await rows(tx, LIST_SPACES_OF_EXPIRED_VOICES, now=now)]


async def ensure_space(tx: Tx, settings: SpaceSettings) -> SpaceSettings:
    """The space as it is; made with `settings` when there is none yet."""
    await tx.run(ENSURE_SPACE, space=settings.id, policies=_policies(settings))
    return await get_space(tx, settings.id)


async def save_space(tx: Tx, settings: SpaceSettings) -> SpaceSettings:
    """Make the space or change its policies. Its identity_revision is never set from outside.

    What is already written keeps the audiences it was settled with. Of a workplace, what was inferred of people goes, and so do
    sounds that it allows no more. How long voices are kept holds for those there are."""
    await tx.run(LOCK_SPACE, space=settings.id)
    before = await find_space(tx, settings.id)
    await tx.run(SAVE_SPACE, space=settings.id, policies=_policies(settings))
    if settings.workplace and await forget_all_inferred(tx, settings.id):
        await save_erased(tx, settings.id, Erased.INFERRED, occasion=fresh())
    await obey_sound_policy(
        tx, settings.id, workplace=settings.workplace, keeps_sound=settings.keeps_sound, days=settings.sound_days
    )
    if before is not None and before.voice_days != settings.voice_days:
        await settle_voice_days(tx, settings.id)
    return await get_space(tx, settings.id)


async def lock_space(tx: Tx, space: str) -> SpaceSettings:
    """Wait until no other transaction writes identities of `space`, and keep it so until this one ends; the settings and
    revision as they are then. Two statements: what one statement read before it waited may be out of date."""
    await tx.run(LOCK_SPACE, space=space)
    return await get_space(tx, space)


async def bump_revision(tx: Tx, space: str) -> int:
    """The next identity_revision; the caller holds the lock and writes it on the people it changes."""
    (row,) = await rows(tx, BUMP_REVISION, space=space)
    return int(row["revision"])


def _policies(settings: SpaceSettings) -> dict[str, Any]:
    return {
        "access": settings.access.value,
        "routing": settings.routing,
        "voice_access": settings.voice_access.value,
        "anonymous_voices": settings.anonymous_voices.value,
        "anonymous_days": settings.anonymous_days,
        "workplace": settings.workplace or None,
        "keeps_sound": settings.keeps_sound or None,
        "sound_days": settings.sound_days,
        "session_days": settings.session_days,
        "voice_days": settings.voice_days,
        "opt_outs": None if settings.opt_outs is OptOuts.VOICE else settings.opt_outs.value,
    }


def _settings(space: dict[str, Any]) -> SpaceSettings:
    return SpaceSettings(
        id=space["id"],
        access=AccessPolicy(space["access"]),
        routing=space["routing"],
        voice_access=VoiceAccess(space["voice_access"]),
        anonymous_voices=AnonymousVoices(space["anonymous_voices"]),
        anonymous_days=space["anonymous_days"],
        workplace=bool(space["workplace"]),
        keeps_sound=bool(space["keeps_sound"]),
        sound_days=SOUND_DAYS if space["sound_days"] is None else space["sound_days"],
        session_days=space["session_days"],
        voice_days=space["voice_days"],
        opt_outs=OptOuts(space["opt_outs"] or OptOuts.VOICE),
        identity_revision=space["identity_revision"],
    )
