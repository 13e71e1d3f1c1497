"""Only what has the secret gets in, and only while it is new: by every way of signing, for any secret, body, and change."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.connectors.live import CONNECTORS, Delivery, SignatureWrong, connector
from service.connectors.live import signatures as s
from tests.unit.connectors.live.told import NOW

Headers = Mapping[str, str]
ZOOM: dict[str, Any] = {"header": "x-zm-signature", "timestamp_header": "x-zm-request-timestamp"}
ZOOM |= {"prefix": "v0=", "before": "v0:", "joint": ":"}


def whsec(key: bytes) -> str:
    return f"whsec_{base64.b64encode(key).decode()}"


def plain(key: bytes) -> str:
    return base64.urlsafe_b64encode(key).decode()


WAYS: dict[str, tuple[Callable[[bytes], str], Callable[[str, bytes], Headers], Callable[..., None]]] = {
    "webhook id": (whsec, lambda k, b: s.webhook_id_headers(k, id="m1", at=NOW, body=b), s.verify_webhook_id),
    "svix": (whsec, lambda k, b: s.webhook_id_headers(k, id="m1", at=NOW, body=b, prefix="svix-"), s.verify_webhook_id),
    "timestamp": (plain, lambda k, b: s.timestamp_body_headers(k, at=NOW, body=b), s.verify_timestamp_body),
    "zoom": (
        plain,
        lambda k, b: s.timestamp_body_headers(k, at=NOW, body=b, **ZOOM),
        lambda d, k, *, source: s.verify_timestamp_body(d, k, source=source, **ZOOM),
    ),
    "body": (plain, lambda k, b: s.body_headers(k, body=b), s.verify_body),
    "canonical": (
        lambda key: base64.b64encode(key).decode(),
        lambda k, b: s.canonical_json_headers(k, body=b),
        s.verify_canonical_json,
    ),
    "jwt": (lambda key: f"api:{plain(key)}", lambda k, b: s.jwt_headers(k, at=NOW, body=b), s.verify_jwt),
    "shared": (
        plain,
        lambda k, b: {"x-key": k},
        lambda d, k, *, source: s.verify_shared_secret(d, k, source=source, header="x-key"),
    ),
}
KEYS = st.binary(min_size=8, max_size=40)
BODIES = st.dictionaries(st.text(max_size=5), st.text(max_size=8) | st.integers(), max_size=3).map(json.dumps).map(str.encode)


def lets_in(way: str, headers: Headers, body: bytes, secrets: list[str], late: float = 0.0) -> bool:
    try:
        WAYS[way][2](Delivery(headers, body, NOW + timedelta(seconds=late)), secrets, source="sales")
    except SignatureWrong as problem:
        assert problem.http_status == 401 and not any(secret in problem.message for secret in secrets)
        return False
    return True


@pytest.mark.parametrize("way", WAYS)
@given(key=KEYS, other=KEYS, body=BODIES)
@settings(max_examples=25, deadline=None)
def test_who_has_a_secret_gets_in_also_while_it_is_being_changed(way: str, key: bytes, other: bytes, body: bytes) -> None:
    secret, signed, _ = WAYS[way]
    headers = signed(secret(key), body)
    assert lets_in(way, headers, body, [secret(key)])
    assert lets_in(way, headers, body, [secret(other), secret(key)]) and lets_in(
        way, headers, body, [secret(key), secret(other)]
    )
    assert lets_in(way, headers, body, [secret(other)]) == (key == other)


@pytest.mark.parametrize("way", [way for way in WAYS if way != "shared"])
@given(key=KEYS, body=BODIES, data=st.data())
@settings(max_examples=40, deadline=None)
def test_what_was_changed_on_the_way_does_not_get_in(way: str, key: bytes, body: bytes, data: st.DataObject) -> None:
    """Another body, or a header of the right length with one character changed."""
    secret, signed, _ = WAYS[way]
    headers = dict(signed(secret(key), body))
    other = data.draw(BODIES.filter(lambda b: json.loads(b) != json.loads(body)))
    assert not lets_in(way, headers, other, [secret(key)])
    name = data.draw(st.sampled_from(sorted(headers)))
    at = data.draw(st.integers(0, len(headers[name]) - 1))
    changed = data.draw(st.sampled_from("0aA1-").filter(lambda c: c != headers[name][at]))
    spoiled = headers[name][:at] + changed + headers[name][at + 1 :]
    assert not lets_in(way, {**headers, name: spoiled}, body, [secret(key)])
    del headers[name]
    assert not lets_in(way, headers, body, [secret(key)])


@pytest.mark.parametrize("way", WAYS)
@given(
    values=st.lists(
        st.text(max_size=60) | st.sampled_from(["v1,", "v1,AAAA", "sha256=", "a.b.c", "e30.e30.", "é" * 44]), max_size=4
    )
)
@settings(max_examples=40, deadline=None)
def test_any_headers_are_refused_and_break_nothing(way: str, values: list[str]) -> None:
    secret, signed, _ = WAYS[way]
    names = sorted(signed(secret(b"k" * 16), b"{}"))
    headers = dict(zip(names, values, strict=False))
    assert not lets_in(way, headers, b"{}", [secret(b"k" * 16)])


@pytest.mark.parametrize("way", ["webhook id", "svix", "timestamp", "zoom", "jwt"])
def test_an_old_delivery_does_not_get_in_again_nor_one_of_the_future(way: str) -> None:
    secret, signed, _ = WAYS[way]
    key, body = secret(b"k" * 16), b"{}"
    headers = signed(key, body)
    assert lets_in(way, headers, body, [key], late=290) and not lets_in(way, headers, body, [key], late=400)
    assert lets_in(way, headers, body, [key], late=-30) and not lets_in(way, headers, body, [key], late=-400)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("secrets", [[], [""], ["whsec_"]])
def test_a_source_without_a_secret_lets_nothing_in(way: str, secrets: list[str]) -> None:
    """Not even what is signed with the empty key, which everybody has."""
    _, _, verify = WAYS[way]
    body = b"{}"
    empty = {
        **{f"{p}{n}": v for p in ("webhook-", "svix-") for n, v in (("id", "m"), ("timestamp", f"{int(NOW.timestamp())}"))},
        "x-key": secrets[0] if secrets else "",
    }
    if secrets == ["whsec_"] and way not in ("webhook id", "svix", "canonical"):
        return  # a secret like another
    headers = (
        {**WAYS[way][1](WAYS[way][0](b"any"), body), **empty} if way == "shared" else WAYS[way][1](WAYS[way][0](b"any"), body)
    )
    with pytest.raises((SignatureWrong, s.SecretUnusable)):
        verify(Delivery(headers, body, NOW), secrets, source="sales")


def test_a_secret_that_is_no_base64_is_named_by_its_number_alone() -> None:
    headers = s.webhook_id_headers(whsec(b"k" * 16), id="m", at=NOW, body=b"{}")
    with pytest.raises(s.SecretUnusable, match="Secret 2 of the source sales") as problem:
        s.verify_webhook_id(Delivery(headers, b"{}", NOW), [whsec(b"k" * 16), "whsec_??"], source="sales")
    assert "??" not in problem.value.message and problem.value.http_status == 503


def test_of_a_list_of_signatures_one_must_fit() -> None:
    """As a sender has it that changes its secret."""
    body = b'{"a": 1}'
    old, new = (s.webhook_id_headers(whsec(key), id="m", at=NOW, body=body) for key in (b"o" * 16, b"n" * 16))
    both = {**old, "webhook-signature": f"{old['webhook-signature']} v1a,AAAA {new['webhook-signature']}"}
    assert lets_in("webhook id", both, body, [whsec(b"n" * 16)]) and lets_in("webhook id", both, body, [whsec(b"o" * 16)])
    many = " ".join(["v1,AAAA"] * s.MAX_SIGNATURES + [new["webhook-signature"]])
    assert not lets_in("webhook id", {**new, "webhook-signature": many}, body, [whsec(b"n" * 16)])


def test_the_published_example_of_standard_webhooks() -> None:
    """Of its specification: secret, id, timestamp, body and signature."""
    secret, body = "whsec_plJ3nmyCDGBKInavdOK15jsl", b'{"event_type":"ping","data":{"success":true}}'
    headers = {
        "webhook-id": "msg_loFOjxBNrRLzqYUf",
        "webhook-timestamp": "1731705121",
        "webhook-signature": "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
    }
    at = NOW.fromtimestamp(1731705121, NOW.tzinfo)
    s.verify_webhook_id(Delivery(headers, body, at), [secret], source="sales")


def test_case_3_each_provider_is_verified_by_what_it_signs() -> None:
    """Attendee signs canonical JSON and sends other bytes; the others sign the bytes; a name has a letter beyond ASCII."""
    document = {"speaker_name": "Zoë", "b": [1, 2.5, None], "a": {"y": 1, "x": "ß"}}
    as_sent = json.dumps(document).encode()
    assert s.canonical(document) == '{"a":{"x":"ß","y":1},"b":[1,2.5,null],"speaker_name":"Zoë"}'.encode() != as_sent
    key = base64.b64encode(b"attendee-secret").decode()
    attendee = s.canonical_json_headers(key, body=as_sent)
    assert lets_in("canonical", attendee, as_sent, [key])
    assert lets_in("canonical", attendee, s.canonical(document), [key]), "however it is written"
    raw = s.timestamp_body_headers(key, at=NOW, body=as_sent)
    assert lets_in("timestamp", raw, as_sent, [key]) and not lets_in("timestamp", raw, s.canonical(document), [key])


@pytest.mark.parametrize("body", [b"", b"no JSON", b'{"a": "\\ud800"}', b"[" * 100_000, b"9" * 5_000, b"\xff"])
def test_what_is_no_json_is_not_signed_as_json(body: bytes) -> None:
    key = base64.b64encode(b"attendee-secret").decode()
    assert not lets_in("canonical", {"x-webhook-signature": "AAAA"}, body, [key])


def test_a_token_that_signs_itself_or_nothing_is_none() -> None:
    """`alg: none`, another algorithm, another key's name."""
    body, key = b"{}", "api:0123456789"
    token = s.jwt_headers(key, at=NOW, body=body)["authorization"]
    none = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    _, claims, signature = token.split(".")
    for wrong in (f"{none}.{claims}.", f"{none}.{claims}.{signature}", "", ".", "..", token.rpartition(".")[0] + "."):
        assert not lets_in("jwt", {"authorization": wrong}, body, [key]), wrong
    assert not lets_in("jwt", {"authorization": token}, body, ["other:0123456789"]), "the same secret under another key"
    assert lets_in("jwt", {"authorization": token}, body, ["0123456789"])


def test_a_secret_in_the_url_is_asked_for_where_the_header_cannot_be_set() -> None:
    def verify(query: dict[str, str] | None, headers: Headers = MappingProxyType({})) -> None:
        delivery = Delivery(headers, b"", NOW, query=query)
        s.verify_shared_secret(delivery, ["hush"], source="sales", header="x-key", parameter="token")

    verify({"token": "hush"})
    verify({"token": "wrong"}, {"x-key": "hush"})
    for query in (None, {}, {"token": ""}, {"token": "hushh"}, {"key": "hush"}):
        with pytest.raises(SignatureWrong):
            verify(query)


@pytest.mark.parametrize("provider", CONNECTORS)
def test_secrets_are_tried_before_the_first_delivery_comes(provider: str) -> None:
    """What the backend needs as base64 is named if it is none; what is any text is not, and neither is what signs nothing."""
    verify = connector(provider).verify
    needs_base64 = provider in ("recall", "attendee", "meetingbaas", "pipecat", "daily", "generic")
    s.check_secrets(verify, [whsec(b"k" * 16), "token:any text"], source="sales", at=NOW)
    s.check_secrets(verify, ["token:any text"], source="sales", at=NOW)
    try:
        s.check_secrets(verify, [whsec(b"k" * 16), "any text"], source="sales", at=NOW)
    except s.SecretUnusable as problem:
        assert needs_base64 and problem.facts["number"] == 2
    else:
        assert not needs_base64


def test_what_is_sent_as_it_is_does_not_sign() -> None:
    assert s.by_use(["whsec_AAAA", "token:open", "key"]) == (["whsec_AAAA", "key"], ["open"])
