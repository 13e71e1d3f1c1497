"""Who asks, and what may they see? Made anew for every operation; everything read in it goes through one ReadScope."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from starlette.requests import HTTPConnection
from strawberry.fastapi import BaseContext
from strawberry.types import Info as StrawberryInfo

from service.api.bearers import Bearers, is_issuers, looks_signed
from service.api.characters import whole
from service.api.loaders import Reading
from service.api.moments import MomentsConfig, even_moment
from service.api.rates import Payer, Rates, address_of
from service.api.stream_following import Following
from service.api.streams import Streams
from service.api.tokens import TokenEntry, TokenFile
from service.api.uploads import Uploads
from service.api.uses import Uses
from service.errors import InvalidInput, VoicegraphError
from service.graph.access import read_scope
from service.graph.accounts import find_owner
from service.graph.jobs import JobScope
from service.pipelines.desk import Front
from service.pipelines.jobs import Jobs
from service.pipelines.reception import Reception
from service.pipelines.viewer import HeardVoice, ViewerRefused, resolve_viewer
from service.types.people import Principal, Viewer
from service.wiring import Services

T = TypeVar("T")
MAX_CLIPS = 8
"""Voices in one request, half a second of all cores each; more people in a room are better served by what is public."""


class TokenNotAccepted(VoicegraphError):
    code = "token_not_accepted"
    says = "The bearer token is unknown, revoked or expired. Ask for a new one, or leave the header out to ask by voice."
    http_status = 401


class NotAllowed(VoicegraphError):
    code = "not_allowed"
    says = "{reason}"
    http_status = 403


_PREFIX = "x-voicegraph-"
_NAMES = frozenset({"authorization", *(f"{_PREFIX}{name}" for name in ("acting-for", "voice", "heard-by", "heard-by-voices"))})


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller says about who asks and who hears the answer; nothing of it is believed as it stands."""

    acting_for: str | None = None
    voice: str | None = None
    """Upload of a clip of the asker's voice."""
    heard_by: tuple[str, ...] = ()
    heard_by_voices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Credentials:
    """As they came with the request, or with `connection_init` of a websocket."""

    token: str | None = field(default=None, repr=False)
    asked: Asked = Asked()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Credentials:
        """From HTTP headers or connection parameters; names are the same, in any case, and what is given twice counts twice.

        Raises InvalidInput for a value that is no text and for a name like ours that is not: who listens must not get lost."""
        given: dict[str, str] = {}
        for name, value in ((str(name).lower(), value) for name, value in values.items()):
            if name not in _NAMES:
                if name.startswith(_PREFIX):
                    raise InvalidInput(what="a header", given=f"`{name[:100]}`", needed=", ".join(sorted(_NAMES)))
                continue
            if not isinstance(value, str):
                raise InvalidInput(what=f"`{name}`", given=type(value).__name__, needed="text; several ids separated by commas")
            value = whole(value)
            given[name] = f"{given[name]},{value}" if name in given else value
        scheme, _, token = given.get("authorization", "").partition(" ")
        asked = Asked(
            acting_for=_local_or_none(given.get("x-voicegraph-acting-for")),
            voice=given.get("x-voicegraph-voice") or None,
            heard_by=tuple(map(local_id, _list(given.get("x-voicegraph-heard-by")))),
            heard_by_voices=_list(given.get("x-voicegraph-heard-by-voices")),
        )
        return cls(token.strip() or "?" if scheme.lower() == "bearer" else scheme or None, asked)


@dataclass(frozen=True, slots=True)
class Runtime:
    """What all requests share."""

    services: Services
    tokens: TokenFile
    bearers: Bearers
    uses: Uses
    uploads: Uploads
    jobs: Jobs
    reception: Reception
    front: Front = field(default_factory=Front)
    """Whose turn it is at the models that who asks aloud needs: a fifth of a second of all cores each."""
    streams: Streams = field(default_factory=Streams)
    following: Following = field(default_factory=Following)
    rates: Rates = field(default_factory=Rates)
    moments: MomentsConfig = field(default_factory=MomentsConfig)

    def holder_of(self, token: str) -> TokenEntry | None:
        """Who holds the token now, ours or an issuer's. Raises TokenExpired for one of an issuer's, IssuersUnreadable,
        TokensUnreadable."""
        return self.bearers.find(token) if looks_signed(token) else self.tokens.find(token)


class Context(BaseContext):
    """One operation's. Views of the graph are made once per asker and shared by all fields that ask as that asker."""

    def __init__(self, runtime: Runtime, credentials: Credentials) -> None:
        super().__init__()
        self.runtime = runtime
        self.credentials = credentials
        self.began = time.monotonic()
        """When the operation came in; even moments (service.api.moments) are counted from here."""
        self._readings: dict[Asked, asyncio.Task[Reading]] = {}
        self._voices: dict[Path, asyncio.Task[HeardVoice]] = {}
        self.payer: Payer | None = None
        """Whose bucket it is taken from; nobody's before it is admitted."""

    @classmethod
    async def admitted(cls, runtime: Runtime, connection: HTTPConnection) -> Context:
        """Who sends this request, with a point taken for it; where it is refused for what it says of who asks, of the address,
        and only then: who shares an address with somebody who does that is served all the same.

        Raises RateLimited, InvalidInput, IssuerUnreachable, IssuersUnreadable."""
        try:
            context = await cls(runtime, Credentials.of(connection.headers)).prepared()
        except VoicegraphError:
            runtime.rates.take(address_of(connection))
            raise
        return context.admit(connection)

    async def prepared(self) -> Context:
        """Before anything is asked of it: with what must be fetched to know who asks. Raises IssuerUnreachable."""
        await self.runtime.bearers.prepare(self.credentials.token)
        return self

    def renewed(self) -> Context:
        """For the next operation on the same websocket, or the next result of a subscription: nothing remembered."""
        anew = Context(self.runtime, self.credentials)
        anew.payer = self.payer
        return anew

    def admit(self, connection: HTTPConnection) -> Context:
        """With a point taken from the token's account; from the address, where there is no account. Raises RateLimited."""
        try:
            principal = self.principal
        except VoicegraphError:  # told where something is asked of it
            principal = None
        self.payer = Payer(principal.account_id, known=True) if principal else address_of(connection)
        self.charge(1)
        return self

    def charge(self, points: float) -> None:
        """Raises RateLimited."""
        if self.payer is not None:
            self.runtime.rates.take(self.payer, points)

    @property
    def services(self) -> Services:
        return self.runtime.services

    @property
    def moments(self) -> MomentsConfig:
        return self.runtime.moments

    @property
    def entry(self) -> TokenEntry | None:
        """The token's entry, looked up anew each time so that revoking works at once. Raises TokenNotAccepted, TokenExpired."""
        if self.credentials.token is None:
            return None
        entry = self.runtime.holder_of(self.credentials.token)
        if entry is None:
            raise TokenNotAccepted()
        if not is_issuers(entry.id):
            self.runtime.uses.of_token(entry.id)
        return entry

    @property
    def principal(self) -> Principal | None:
        entry = self.entry
        return entry.principal if entry else None

    @property
    def space(self) -> str:
        """The token's; the configured one for voices without a token. Never the caller's choice."""
        return entry.space if (entry := self.entry) else self.services.settings.space

    def allowed(self, scope: str, to: str) -> Principal:
        """The principal, if its token has `scope` or `admin`; raises NotAllowed otherwise."""
        principal = self.principal
        if principal is None or not principal.scopes & {scope, "admin"}:
            raise NotAllowed(reason=f"To {to}, a token with the scope `{scope}` is needed.")
        return principal

    @property
    def job_scope(self) -> JobScope:
        principal = self.principal
        if principal is None:
            raise NotAllowed(reason="Jobs are seen by the account that asked for them; a token is needed.")
        everybody = "admin" in principal.scopes
        return JobScope(self.space, None if everybody else principal.account_id, asker=principal.account_id)

    def upload(self, upload_id: str) -> Path:
        principal = self.principal
        return self.runtime.uploads.path(principal.account_id if principal else None, upload_id)

    async def reading(self, asked: Asked | None = None) -> Reading:
        """What `asked` (by default, what the headers say) may see. Raises ViewerNotAccepted, NotAllowed, NotFound."""
        asked = self.credentials.asked if asked is None else asked
        if asked not in self._readings:
            self._readings[asked] = _kept(self._read_as(asked))
        return await asyncio.shield(self._readings[asked])

    def reader(self, to: str = "read") -> Principal | None:
        """Who has the token; raises NotAllowed for one that may not read."""
        principal = self.principal
        if principal is not None:
            self.allowed("read_all" if "read_all" in principal.scopes else "ask", to)
        return principal

    async def holder(self) -> Principal | None:
        """The principal; of a token that is given to nobody, with whose its account is. Raises NotAllowed for one that may not
        read: what only brings sound decides nothing about anybody, though it be somebody's own."""
        return await self._bound(self.reader("decide for oneself"))

    async def _bound(self, principal: Principal | None) -> Principal | None:
        """With whose its account is, where the token is given to nobody: somebody said so, and it ends when that is taken back.
        Who reads everything goes on doing so."""
        if principal is None or principal.person_id is not None or "read_all" in principal.scopes:
            return principal
        person = await self.services.graph.read(find_owner, self.space, principal.account_id)
        return principal if person is None else replace(principal, person_id=person)

    async def hearers(self) -> tuple[HeardVoice, ...]:
        """The voices named as hearing what is told. Raises InvalidInput, NotFound."""
        return tuple(await self._heard_each(self.credentials.asked.heard_by_voices))

    async def viewer(self, voice: HeardVoice | None, others: tuple[HeardVoice, ...]) -> Viewer | ViewerRefused:
        """Who asks now, with a voice that is no upload, as the credentials say. Raises TokenNotAccepted, NotAllowed."""
        principal = await self._bound(self.reader())
        return await self._resolved(principal, self.space, self.credentials.asked, voice, others)

    async def _read_as(self, asked: Asked) -> Reading:
        try:
            viewer = await self._viewer(await self._bound(self.reader()), self.space, asked)
            scope = await self.services.graph.read(read_scope, viewer)
        finally:
            if asked.heard_by:  # whether they are known here must not show, in the time either
                await even_moment(self.began, self.moments.scope)
        return Reading(self.services.graph, viewer, scope)

    async def _viewer(self, principal: Principal | None, space: str, asked: Asked) -> Viewer:
        voices = await self._heard_each(((asked.voice,) if asked.voice else ()) + asked.heard_by_voices)
        voice = voices.pop(0) if asked.voice else None
        answer = await self._resolved(principal, space, asked, voice, tuple(voices))
        if isinstance(answer, ViewerRefused):
            raise ViewerNotAccepted(answer)
        return answer

    async def _resolved(
        self,
        principal: Principal | None,
        space: str,
        asked: Asked,
        voice: HeardVoice | None,
        others: tuple[HeardVoice, ...],
    ) -> Viewer | ViewerRefused:
        viewer = await resolve_viewer(
            self.services.graph,
            self.services.voices,
            space=space,
            thresholds=self.services.thresholds,
            principal=principal,
            voice=voice,
            as_person=asked.acting_for,
            heard_by=asked.heard_by,
            heard_by_voices=others,
        )
        if isinstance(viewer, Viewer):
            self.runtime.uses.of_grants(viewer.grants)
        return viewer

    async def _heard_each(self, uploads: tuple[str, ...]) -> list[HeardVoice]:
        clips = [self.upload(id) for id in uploads]
        if len(clips) > MAX_CLIPS:
            raise InvalidInput(what="the number of voices", given=len(clips), needed=f"at most {MAX_CLIPS}")
        return [await self._heard(clip) for clip in clips]

    async def _heard(self, clip: Path) -> HeardVoice:
        """Heard once an operation, however many of its fields ask with it."""
        if clip not in self._voices:
            if len(self._voices) >= MAX_CLIPS:
                raise InvalidInput(what="the number of voices in one request", given="more", needed=f"at most {MAX_CLIPS}")
            self._voices[clip] = _kept(self._embedded(clip))
        return await asyncio.shield(self._voices[clip])

    async def _embedded(self, clip: Path) -> HeardVoice:
        async with self.runtime.front.voices.turn(urgent=True):  # who asks with a clip has said what they ask
            return await self.services.heard(clip)


class ViewerNotAccepted(VoicegraphError):
    """Carries the refusal, with what the voice came to."""

    code = "viewer_not_accepted"
    says = "{reason}"
    http_status = 403

    def __init__(self, refused: ViewerRefused) -> None:
        super().__init__(reason=refused.reason)
        self.refused = refused


def _kept(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """For all fields that wait for it. Where its error finds nobody waiting, since the request was given up, it is nobody's."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


Info: TypeAlias = StrawberryInfo[Context, None]


def global_id(kind: str, id: str) -> str:
    """`Person:0198…`: readable on purpose, the graph's own id behind the type it is of."""
    return f"{kind}:{id}"


def local_id(id: str, kind: str = "Person") -> str:
    """The graph's id in a global id or in the graph's id itself. One of another type names nothing: its prefix stays on."""
    prefix, colon, rest = id.partition(":")
    return rest if colon and prefix == kind else id


def _list(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _local_or_none(id: str | None) -> str | None:
    return local_id(id) if id else None
