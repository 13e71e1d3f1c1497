"""Whose word is it that somebody joined with an account? An account that was bound opens meetings to its person, so one source
must not be able to name what another one, or a token of ours, vouches for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from service.connectors.declared import AccountsWithin, DeclaredLive
from service.connectors.live.sources import Source
from service.types.meeting import (
    MAILTO,
    AccountKey,
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


def vouched(
    events: Iterable[MeetingEvent], declared: DeclaredLive, source: str, configured: Source | None
) -> tuple[MeetingEvent, ...]:
    """The events, each account in them under an issuer that says who vouches for it. `configured`: the source as it is now;
    None: there is none of this name any more, and nothing is listed for it."""
    if declared.accounts_within is AccountsWithin.PROVIDER:
        return tuple(events)
    listed = _listed(configured) if configured is not None and configured.provider == declared.name else frozenset()

    def key(given: AccountKey | None) -> AccountKey | None:
        if given is None or (issuer := given.issuer.strip().lower()) in listed:
            return given
        own = f"{declared.name}:{source}"
        return AccountKey(own if issuer == declared.name else f"{own}:{issuer}", given.subject)

    def whose(speaker: Speaker) -> Speaker:
        if speaker.account is None and speaker.email is None:
            return speaker
        return replace(speaker, account=key(speaker.account), email=key(speaker.email))

    def told(event: MeetingEvent) -> MeetingEvent:
        match event:
            case Joined() | Left() | Renamed() | Spoke() | Uttered():
                return replace(event, speaker=whose(event.speaker))
            case Heard() if event.speaker is not None:
                return replace(event, speaker=whose(event.speaker))
            case Began():
                return replace(event, invited=tuple(map(whose, event.invited)))
            case _:
                return event

    return tuple(map(told, events))


def _listed(source: Source) -> frozenset[str]:
    return frozenset((*source.issuers, *((MAILTO,) if source.verified_email else ())))
