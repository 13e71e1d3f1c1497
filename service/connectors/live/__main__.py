"""LIVE.md: how a meeting backend is set up, and what its connector states of itself, as its declaration has it.

`python -m service.connectors.live > service/connectors/LIVE.md`"""

from __future__ import annotations

from service.connectors.declared import live_table, markdown_table
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

## Setting one up

```toml
[sources.sales]                           # hooks.toml in the data folder (`voicegraph settings`), or the setting `hooks_file`
provider = "recall"
space = "home"                            # the one that you search: the setting `space`, unless you say another
secrets = ["env:RECALL_SECRET"]           # what the backend calls its secret, see below; or "file:/run/secrets/recall"
```

| of a source | is | without it |
|---|---|---|
| `provider`, `space` | whose deliveries it has, and into which space they go | refused |
| `secrets` | `env:NAME` or `file:/path` of each, never the secret itself | nothing can be proved, but by a token of the space |
| `tokens` | ids of those tokens of the space (`voicegraph token list`) that may deliver | all with scope `ingest` |
| `api_key` | as one of `secrets`: what fetches a transcript | none: Fireflies' are not fetched |
| `listen` | sound is taken in, and voices are told apart in it | `false` |
| `idle_minutes` | after so long without a delivery a meeting is over | 30 |
| `meeting_from` | of bots: the field that says which meeting they are in, where several are in one; see below | its own |
| `issuers`, `verified_email` | of `generic`: whose accounts it may name, whether its e-mails count; see below | none |

`voicegraph serve` listens on 127.0.0.1:8460, without TLS: behind whatever ends TLS for a public name of yours, the backend is
given `https://HOST/v1/hooks/sales`, for its WebSocket `wss://HOST/v1/hooks/sales`. A variable must be set where `serve` was
started; the file is read again when it changes. Then `voicegraph hooks check`, a first meeting, and
`voicegraph hooks deliveries`. What was not signed rightly is kept nowhere: the backend shows the 401, and our answer says why.

"""

AFTER_SETTING_UP = """
Without an account there, `voicegraph replay --provider recall` sends what it would send.

## What each of them is

"""

SETTING_UP = {
    "recall": (
        "the workspace's verification secret, `whsec_…`; of workspaces older than December 2025 that of status webhooks, too",
        "real-time endpoints with `transcript.data`, `transcript.partial_data` and `participant_events.*`; the bot's status "
        "webhooks, which alone say that it is over",
    ),
    "vexa": (
        "the one that you give Vexa with the webhook's address",
        "webhooks of a meeting's status; what its live WebSocket tells, by a client of yours",
    ),
    "attendee": (
        "that of the webhook, base64, as Attendee shows it; `token:…` for the socket of sound",
        "the triggers `transcript.update`, `participant_events.join_leave`, `chat_messages.update`, `bot.state_change`",
    ),
    "meetingbaas": (
        "that of the webhook, `whsec_…`; `token:…` for callbacks and sockets",
        "`bot.*`; streaming, where words are wanted while it goes on",
    ),
    "meetingbaas_v1": (
        "the account's API key; `token:…` for the socket, whose URL has `meeting` and `sample_rate` as well",
        "the bot's webhook",
    ),
    "jitsi": (
        "`token:…`",
        "jigasi's remote publisher, to `…?token=…`; or opus-transcriber-proxy, with the header `Authorization: Bearer …`; or, "
        "as sound alone, what jigasi sends a Whisper service: it adds `/ID?auth_token=…` to the address that it has, of which "
        "whatever ends TLS makes `…?token=…&meeting=ID`",
    ),
    "livekit": ("`<API key>:<API secret>`", "LiveKit's webhooks, and what an agent of yours passes on"),
    "pipecat": ("`whsec_…` or `token:…` of your own", "what an observer in your pipeline passes on"),
    "daily": ("`hmac` of the webhook, base64", "`meeting.*`, `participant.*`, and what a bot of yours passes on"),
    "fireflies": ("that of the webhook; and `api_key`", "the webhook that says a transcript is ready"),
    "zoom": (
        "the app's Secret Token",
        "`recording.transcript_completed`, `meeting.started`, `meeting.ended`, `meeting.participant_joined`, "
        "`meeting.participant_left`",
    ),
    "generic": ("`whsec_…` or `token:…` of your own, or none and a token of the space", "[GENERIC.md](GENERIC.md)"),
}
"""Of each provider: what its secret is, and what it is told to send."""

TAIL = """
Of LiveKit, Pipecat, Daily and Fireflies (live) no webhook has the words: a program of yours passes them on, as the head of each
connector says. [pipecat_bot.py](../../deploy/examples/pipecat_bot.py) and
[livekit_listener.py](../../deploy/examples/livekit_listener.py) do it for two of them. Fireflies, Zoom and MeetingBaas v2 say
where a transcript is, and it is fetched; a source of `fireflies` has `api_key = "env:NAME"` or `"file:/path"` for that. Jitsi
and Daily name the room alone: what comes after a meeting in it is over belongs to the next one.

Recall.ai, Attendee and MeetingBaas name the bot, so two bots in one call are two meetings, unless whoever sends them says that
they are in one. With `meeting_from = "call"` it is the one that the field `call` of a bot's metadata names (the last column
says where these stand), else the one that its URL names, as `…?call=…`: MeetingBaas' live segments, and sound but for
Recall.ai's in JSON, come without metadata, so give a bot both (of a URL nothing is kept whose name has a key, a token or the
like in it). What has neither stays a meeting of that bot. Of one call there is one session, with each line once whoever told
it, and by one of the two ids that its speaker has; times count from each bot's own beginning, so let it be told; and it is
over when all of them have ended.

The value is the same for all bots of a call, and another for a call that is held at the same time. It may come again, as the
id of a series or a meeting's URL does: then a bot that has told nothing before the call was over (all have ended, or were
silent for `idle_minutes`) begins the next meeting, unless what it tells first happened before. Calls that follow each other
within seconds are told apart only by values of their own, and what comes of a bot once the next meeting has begun is refused
as `of_meeting_before`.

An account opens meetings to whose it is, so it counts within what vouches for it: what Recall.ai, Zoom and Fireflies say holds
everywhere, and an id that whoever runs a server or an app has chosen within its source alone, as `jitsi:SOURCE`. A source of
`generic` names the issuer itself: `generic:SOURCE:ISSUER`; where `issuers = ["zoom", …]` lists it, it is that one, and an
`email` is the address only with `verified_email = true`. Who holds a secret of a source can say anything in its name.

Sound is taken in where the source has `listen = true`: S16, Float32 and Opus (packets, without a container), 8 to 48 kHz, mixed
or of each participant. A piece stands at its own time; one without a time follows on what came before on its connection, which
began when its first piece came: of MeetingBaas, Pipecat, jigasi and Recall.ai's binary sound, turns may be heard so much too
late as their sound was on its way. Of LiveKit and Daily no sound is taken. In a room where one meeting follows another, sound
of the next that comes before the one before it was listened to goes with that. Of one meeting at most 6 GB are kept.
"""


def page() -> str:
    declared = list(declared_live())
    rows = [("provider", "the secret is", "have it send"), *((f"`{d.name}`", *SETTING_UP[d.name]) for d in declared)]
    return f"{HEAD}{markdown_table(*rows)}\n{AFTER_SETTING_UP}{live_table(declared)}\n{TAIL}"


if __name__ == "__main__":
    print(page(), end="")
