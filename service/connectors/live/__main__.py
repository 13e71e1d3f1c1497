"""LIVE.md: what each meeting backend's connector states of itself, as its declaration has it.

`python -m service.connectors.live > service/connectors/LIVE.md`"""

from __future__ import annotations

from service.connectors.declared import live_table
from service.connectors.live import declared_live

HEAD = """# Meeting backends

What each of them states of itself; a source of `hooks.toml` names one as its `provider`. Made from the declarations by
`python -m service.connectors.live`, and a test holds the two equal. Behind the connector times are seconds from one start; a
label is evidence of who speaks, never more. What a connector was written from, and what of it is general knowledge, stands at
the head of its file in `service/connectors/live`.

A source may have several secrets: any of them holds, so that one can be changed while deliveries come. One that begins with
`token:` is sent as it is, without that beginning, where a backend cannot sign: in the URL that it is given (`?token=…`), as the
sockets of Recall.ai's Desktop SDK, Attendee, MeetingBaas and Jitsi have it, or in a header, as MeetingBaas' callbacks. It signs
nothing, and what signs is never taken from a URL. `voicegraph hooks check` says which secret cannot be used.

"""

TAIL = """
Of LiveKit, Pipecat, Daily and Fireflies (live) no webhook has the words: a program of yours passes them on, as the head of each
connector says. [pipecat_bot.py](../../deploy/examples/pipecat_bot.py) and
[livekit_listener.py](../../deploy/examples/livekit_listener.py) do it for two of them. Fireflies, Zoom and MeetingBaas v2 say
where a transcript is, and it is fetched; a source of `fireflies` has `api_key = "env:NAME"` or `"file:/path"` for that. Jitsi
and Daily name the room alone: what comes after a meeting in it is over belongs to the next one.

An account opens meetings to whose it is, so it counts within what vouches for it: what Recall.ai, Zoom and Fireflies say holds
everywhere, and an id that whoever runs a server or an app has chosen within its source alone, as `jitsi:SOURCE`. A source of
`generic` names the issuer itself: `generic:SOURCE:ISSUER`; where `issuers = ["zoom", …]` lists it, it is that one, and an
`email` is the address only with `verified_email = true`. Who holds a secret of a source can say anything in its name.

Sound is taken in where the source has `listen = true`: S16, Float32 and Opus (packets, without a container), 8 to 48 kHz, mixed
or of each participant. A piece stands at its own time; one without a time follows on what came before on its connection, which
began when its first piece came: of MeetingBaas, Pipecat and Recall.ai's binary sound, turns may be heard so much too late as
their sound was on its way. In a room where one meeting follows another, sound of the next that comes before the one before it
was listened to goes with that. Of one meeting at most 6 GB are kept.
"""


def page() -> str:
    return f"{HEAD}{live_table(declared_live())}\n{TAIL}"


if __name__ == "__main__":
    print(page(), end="")
