"""Our own protocol, for who builds a bot: service.connectors.live.generic_schema says what its messages are, GENERIC.md tells
it.

A POST, and the opening of a WebSocket with its empty body, is signed as Standard Webhooks say, by whoever has the source's
secret `whsec_…`; a repeat of a POST is known by its `webhook-id`. Who cannot sign sends a secret `token:…` of the source,
without those six characters, as `Authorization: Bearer …`. A token of ours with the scope `ingest` is the third way, and is
asked where requests come in (service.api.hooks), not here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.connectors.declared import DeclaredLive, Signing, SpeakerScope, TimeBase, TimeUnit
from service.connectors.live import Delivery, Read
from service.connectors.live.bodies import posted_id
from service.connectors.live.generic_schema import read_binary, read_text
from service.connectors.live.signatures import WINDOW, by_use, verify_shared_secret, verify_webhook_id

NAME = "generic"


def verify_ours(delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
    """By signature where there is one, else by a secret that is sent itself. Raises SignatureWrong, SecretUnusable."""
    signing, sent = by_use(secrets)
    if sent and "webhook-signature" not in delivery.headers:
        verify_shared_secret(delivery, sent, source=source, header="authorization", scheme="Bearer ")
    else:
        verify_webhook_id(delivery, signing, source=source, prefixes=("webhook-",))


@dataclass(frozen=True, slots=True)
class Generic:
    declared = DeclaredLive(
        NAME,
        "our own webhook and WebSocket, 1",
        ("webhook", "websocket", "transcript", "partials", "participants", "mixed audio", "audio per participant"),
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.PARTICIPANT,
        utterance_ids="id, where the sender has one",
        repeats="webhook-id; and an event's key, where the sender gives one, else of all that it says",
        signing=Signing.WEBHOOK_ID,
        replay_seconds=WINDOW,
        accounts="speaker.account, speaker.email",
        also=(Signing.TOKEN,),
    )

    def verify(self, delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
        verify_ours(delivery, secrets, source=source)

    def read(self, delivery: Delivery) -> Read:
        message = read_binary(delivery.body) if delivery.binary else read_text(delivery.body)
        return Read(message.meeting, message.events, delivery_key=posted_id(delivery, "webhook-id"))

    def answer(self, delivery: Delivery, secrets: Sequence[str]) -> Mapping[str, object] | None:
        return None


CONNECTOR = Generic()
