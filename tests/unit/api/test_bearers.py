"""Tokens of a real provider on loopback: which are taken, which are not, and how often its keys are asked for."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from service.api.bearers import Bearers, NotProved, TokenExpired, claim, looks_signed, proved
from service.api.issuers import Issuers, IssuersUnreadable, parse
from service.api.key_sets import IssuerUnreachable, KeysConfig, KeySets, KeysNotUsable, _tls, parse_keys
from service.api.stream_following import may_keep
from service.api.tokens import TokenEntry, TokenFile, account_id
from tests.oidc_server import OidcServer, SigningKey, oidc_server

TABLE = """
[issuers.company]
issuer = "{issuer}"
audience = ["voicegraph"]
space = "home"
scopes = ["ask"]
leeway = 0
"""
PAGES = "/.well-known/openid-configuration", "/keys"


@pytest.fixture
def idp() -> Iterator[OidcServer]:
    with oidc_server() as server:
        yield server


@pytest.fixture
def file(tmp_path: Path, idp: OidcServer) -> Path:
    path = tmp_path / "issuers.toml"
    path.write_text(TABLE.format(issuer=idp.issuer))
    return path


def written(file: Path, text: str) -> None:
    file.write_text(text)


class Desk:
    """Takes tokens as a request would."""

    def __init__(self, file: Path, **config: Any) -> None:
        self.bearers = Bearers(Issuers(file), KeySets(KeysConfig(**{"again": 0.0, **config})))

    async def __call__(self, token: str) -> TokenEntry | None:
        await self.bearers.prepare(token)
        return self.bearers.find(token)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_a_token_is_its_accounts_and_gives_what_the_file_says(idp: OidcServer, file: Path, algorithm: str) -> None:
    idp.keys = [SigningKey.made("new", algorithm), SigningKey.made("old")]
    entry = await Desk(file)(idp.token("u-4711", email="ana@example.org", person_id="p1", scope="admin"))
    assert entry is not None
    assert (entry.issuer, entry.subject, entry.space, entry.scopes) == (idp.issuer, "u-4711", "home", {"ask"})
    assert entry.person_id is None and not entry.may_act_for, "whose it is, and for whom it asks, no token says of itself"
    assert entry.principal.account_id == account_id("home", idp.issuer, "u-4711")


async def test_scopes_and_space_are_those_of_claims_that_the_file_knows(idp: OidcServer, file: Path) -> None:
    text = TABLE.format(issuer=idp.issuer).replace('space = "home"', 'space_claim = "tenant"\nspaces = { acme = "acme-space" }')
    more = 'scopes_claim = "realm.roles"\nscopes_of = { boss = ["admin", "read_all"], hand = ["ingest"] }\n'
    written(file, text + more)
    desk = Desk(file)

    async def given(**claims: Any) -> TokenEntry | None:
        return await desk(idp.token(**claims))

    boss = await given(tenant="acme", realm={"roles": ["boss", "other"]})
    hand = await given(tenant="acme", realm={"roles": "hand x"})
    assert boss and hand and (boss.space, boss.scopes) == ("acme-space", {"ask", "admin", "read_all"})
    assert hand.scopes == {"ask", "ingest"} and hand.id == boss.id and hand.id.startswith("company:")
    for tenant in ("acme-space", "home", None, ["acme"], 1):
        assert await given(tenant=tenant) is None, "no space but those that the file names"
    for strange in (7, {"boss": True}, [["boss"]], "bos"):
        plain = await given(tenant="acme", realm={"roles": strange})
        assert plain is not None and plain.scopes == {"ask"}


def _by_hand(header: dict[str, Any], claims: dict[str, Any], sign: Callable[[bytes], bytes]) -> str:
    parts = (base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=") for one in (header, claims))
    signed = b".".join(parts)
    return (signed + b"." + base64.urlsafe_b64encode(sign(signed)).rstrip(b"=")).decode()


def _claims(idp: OidcServer) -> dict[str, Any]:
    return {"iss": idp.issuer, "aud": "voicegraph", "sub": "ana", "exp": int(time.time()) + 3600}


def _with_public_key_as_secret(idp: OidcServer) -> str:
    pem = idp.keys[0].private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    header = {"alg": "HS256", "kid": "k1"}
    return _by_hand(header, _claims(idp), lambda signed: hmac.new(pem, signed, hashlib.sha256).digest())


def _changed(idp: OidcServer) -> str:
    head, body, signature = idp.token().split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "==")) | {"sub": "somebody else"}
    return ".".join((head, base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode(), signature))


FORGED = SigningKey.made("k1", number=1)
REFUSED: dict[str, Callable[[OidcServer], str]] = {
    "no algorithm": lambda idp: _by_hand({"alg": "none", "kid": "k1"}, _claims(idp), lambda _: b""),
    "no algorithm, in capitals": lambda idp: _by_hand({"alg": "None", "kid": "k1"}, _claims(idp), lambda _: b""),
    "the public key as a shared secret": _with_public_key_as_secret,
    "somebody's own key under its id": lambda idp: idp.token(key=FORGED),
    "a key in the header": lambda idp: idp.token(key=FORGED, header={"jwk": FORGED.jwk()}),
    "an address of keys in the header": lambda idp: idp.token(key=FORGED, header={"jku": "http://127.0.0.1:1/keys"}),
    "an algorithm that is not in the list": lambda idp: idp.token(key=SigningKey("k1", "PS256", idp.keys[0].private)),
    "changed": _changed,
    "another audience": lambda idp: idp.token(aud="another service"),
    "another audience among several": lambda idp: idp.token(aud=["a", "b"]),
    "no audience": lambda idp: idp.token(aud=None),
    "another issuer": lambda idp: idp.token(iss="https://id.example.org"),
    "the issuer with a slash": lambda idp: idp.token(iss=f"{idp.issuer}/"),
    "not yet": lambda idp: idp.token(nbf=int(time.time()) + 60),
    "made in the future": lambda idp: idp.token(iat=int(time.time()) + 60),
    "no end": lambda idp: idp.token(exp=None),
    "an end that is no time": lambda idp: idp.token(exp=True),
    "an end after all years": lambda idp: idp.token(exp=10**17),
    "an infinite end": lambda idp: idp.token(exp=float("inf")),
    "nobody": lambda idp: idp.token(sub=None),
    "nobody, empty": lambda idp: idp.token(""),
    "a subject with a blank": lambda idp: idp.token(" ana"),
    "a subject without end": lambda idp: idp.token("a" * 256),
    "an extension that must be understood": lambda idp: idp.token(header={"crit": ["exp"]}),
    "an unknown key": lambda idp: idp.token(key=SigningKey.made("k9", number=1)),
}


async def test_nothing_else_is_taken_and_the_log_says_why_without_the_token(
    idp: OidcServer, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk(file, again=60.0)
    caplog.set_level(logging.DEBUG)
    assert await desk(idp.token()) is not None
    taken = [name for name, made in REFUSED.items() if await desk(made(idp)) is not None]
    assert not taken
    assert "issuer company" in caplog.text and "ana" not in caplog.text and "eyJ" not in caplog.text


async def test_leave_of_an_issuers_token_to_keep_a_stream_lasts_while_the_issuer_is_configured(
    idp: OidcServer, file: Path, tmp_path: Path
) -> None:
    entry = await Desk(file)(idp.token())
    assert entry is not None
    tokens, issuers = TokenFile(tmp_path / "none.json"), Issuers(file)
    assert may_keep(tokens, issuers, entry.id) and not may_keep(tokens, issuers, f"other{entry.id}")
    written(file, "")
    assert not may_keep(tokens, issuers, entry.id)


async def test_an_ended_token_is_told_to_be_ended_if_it_was_right(idp: OidcServer, file: Path) -> None:
    desk = Desk(file)
    for ended in (int(time.time()) - 1, 0, -1.5):
        with pytest.raises(TokenExpired):
            await desk(idp.token(exp=ended))
    assert await desk(idp.token(exp=0, aud="another service")) is None
    written(file, TABLE.format(issuer=idp.issuer).replace("leeway = 0", "leeway = 20"))
    assert await desk(idp.token(exp=int(time.time()) - 10)) is not None
    soon = idp.token(exp=time.time() + 0.3)
    written(file, TABLE.format(issuer=idp.issuer))
    assert await desk(soon) is not None
    await asyncio.sleep(0.35)
    with pytest.raises(TokenExpired):  # remembered as proved, and looked at anew all the same
        await desk(soon)


async def test_a_type_that_the_file_asks_for_keeps_id_tokens_out(idp: OidcServer, file: Path) -> None:
    written(file, TABLE.format(issuer=idp.issuer) + 'token_type = "at+jwt"\n')
    desk = Desk(file)
    assert await desk(idp.token()) is None
    assert await desk(idp.token(header={"typ": "at+jwt"})) and await desk(idp.token(header={"typ": "application/AT+JWT"}))


async def test_a_new_key_is_fetched_once_and_one_taken_back_ends_its_tokens(idp: OidcServer, file: Path) -> None:
    desk = Desk(file)
    old = idp.token()
    assert await desk(old) and [idp.asked[page] for page in PAGES] == [1, 1]
    idp.keys.insert(0, SigningKey.made("k2", "ES256"))
    new = idp.token()
    assert all(await asyncio.gather(*(desk(new) for _ in range(20)))) and idp.asked["/keys"] == 2
    assert await desk(old), "while the provider publishes it"
    idp.keys.pop()
    assert await desk(idp.token(key=SigningKey.made("k3", number=1))) is None
    assert await desk(new) and await desk(old) is None


async def test_old_keys_are_asked_for_beside_what_is_served(idp: OidcServer, file: Path) -> None:
    desk = Desk(file, fresh=0.0)
    old = idp.token()
    assert await desk(old)
    idp.keys = [SigningKey.made("k2", "ES256")]
    idp.answering.clear()
    assert await desk(old), "the provider has not answered"
    idp.answering.set()
    async with asyncio.timeout(5):
        while await desk(old):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_made_up_key_ids_cause_no_more_than_one_asking(idp: OidcServer, file: Path) -> None:
    desk = Desk(file, again=60.0)
    assert await desk(idp.token())
    made_up = [idp.token(key=SigningKey(f"x{i}", "RS256", FORGED.private)) for i in range(30)]
    assert not any(await asyncio.gather(*map(desk, made_up))) and idp.asked["/keys"] == 1
    assert await desk("a.b.c") is None and await desk(idp.token(iss="https://else.example")) is None
    assert idp.asked["/keys"] == 1


async def test_while_the_provider_is_away_known_keys_go_on_and_others_wait(idp: OidcServer, file: Path) -> None:
    desk, late = Desk(file, again=30.0, kept=0.2), Desk(file, again=30.0)
    known = idp.token()
    assert await desk(known) and await late(known)
    idp.down = True
    late.bearers.keys.config = KeysConfig(again=0.0)
    assert await late(known)
    with pytest.raises(IssuerUnreachable) as refused:
        await late(idp.token(key=SigningKey.made("k2", "ES256")))
    assert (
        refused.value.http_status == 503 and refused.value.facts["seconds"] == 1 and refused.value.facts["issuer"] == "company"
    )
    with pytest.raises(IssuerUnreachable):
        await Desk(file)(known)
    await asyncio.sleep(0.25)
    assert desk.bearers.find(known) is None, "keys are not kept for ever"
    idp.down = False
    assert await late(idp.token())


async def test_an_issuer_that_publishes_no_keys_any_more_has_taken_them_back(idp: OidcServer, file: Path) -> None:
    """Unlike one that is away: who was robbed of them empties the set first."""
    (issuer,) = Issuers(file).all()
    for emptied in ({"keys": []}, {"keys": [{"kty": "oct", "k": "c2VjcmV0"}, "x"]}):
        desk, known = Desk(file), idp.token()
        assert await desk(known)
        idp.key_set = emptied
        assert await desk(idp.token(key=SigningKey.made("k9", number=1))) is None
        assert await desk(known) is None
        with pytest.raises(KeysNotUsable, match="no key in it"):
            await KeySets().check(issuer)
        idp.key_set = None
        assert await desk(known), "and what it publishes next is taken"


ANSWERS: dict[str, Any] = {
    "of another issuer": {"discovery": {"issuer": "https://id.example.org"}},
    "keys elsewhere without TLS": {"discovery": {"jwks_uri": "http://id.example.org/keys"}},
    "no address of keys": {"discovery": {"jwks_uri": 7}},
    "an address that is none": {"discovery": {"jwks_uri": "https://256.256.256.256/keys"}},
    "no JSON": {"key_set": b"<html>"},
    "no set": {"key_set": [1]},
    "too long": {"key_set": {"keys": ["x" * 300_000]}},
    "deep": {"key_set": b"[" * 100_000},
}


async def test_what_is_no_key_set_of_this_issuer_is_said_and_nothing_of_it_taken(idp: OidcServer, file: Path) -> None:
    (issuer,) = Issuers(file).all()
    for name, instead in ANSWERS.items():
        idp.discovery, idp.key_set = instead.get("discovery", {}), instead.get("key_set")
        with pytest.raises(KeysNotUsable):
            await KeySets().check(issuer)
        with pytest.raises(IssuerUnreachable):
            await Desk(file)(idp.token())
        assert name


async def test_authorities_that_cannot_be_read_are_said_as_keys_that_cannot_be_had(
    idp: OidcServer, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "authorities.pem").write_text("no certificate")
    for name in ("authorities.pem", "missing.pem"):
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / name))
        _tls.cache_clear()
        with pytest.raises(IssuerUnreachable):
            await Desk(file)(idp.token())
    monkeypatch.delenv("SSL_CERT_FILE")
    assert await Desk(file)(idp.token())


async def test_an_issuer_elsewhere_sends_nobody_to_this_machine_for_its_keys() -> None:
    def answered(request: httpx.Request) -> httpx.Response:
        issuer = str(request.url).partition("/.well-known")[0]
        return httpx.Response(200, json={"issuer": issuer, "jwks_uri": keys})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answered)) as http:
        for keys, refused in (
            ("http://127.0.0.1:8200/v1/secret", True),
            ("https://localhost/keys", True),
            ("https://keys.example.org/", False),
        ):
            (elsewhere,) = parse(TABLE.format(issuer="https://id.example.org"), Path("issuers.toml"))
            (here,) = parse(TABLE.format(issuer="http://localhost:1"), Path("issuers.toml"))
            assert await KeySets()._discovered(http, here) == keys
            if not refused:
                assert await KeySets()._discovered(http, elsewhere) == keys
                continue
            with pytest.raises(KeysNotUsable, match="no address"):
                await KeySets()._discovered(http, elsewhere)


def test_keys_for_something_else_are_left_out() -> None:
    rsa, curve = SigningKey.made("r").jwk(), SigningKey.made("e", "ES256").jwk()
    private = {**curve, "kid": "private", "d": "x"}
    short = SigningKey.made("short", "RS256 short").jwk() | {"alg": "RS256"}
    others = [
        rsa | {"kid": "enc", "use": "enc"}, rsa | {"kid": "ops", "key_ops": ["encrypt"]}, {"kty": "RSA"},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "shared", "alg": "HS256"}, curve | {"kid": "bad", "x": "AA"}, short, private,
        rsa | {"alg": "HS256"}, "x",
    ]  # fmt: skip
    found = parse_keys({"keys": [*others, rsa, {k: v for k, v in curve.items() if k != "alg"}]})
    assert {key.id: key.algorithms for key in found} == {"r": {"RS256"}, "e": {"ES256"}}


async def test_a_key_without_id_is_taken_while_it_is_the_only_one(idp: OidcServer, file: Path) -> None:
    idp.keys = [SigningKey.made(None)]
    assert await Desk(file)(idp.token())
    idp.keys = [SigningKey.made(None), SigningKey.made(None, number=1)]
    assert await Desk(file)(idp.token()) is None


WRONG = {
    "no TOML": "[issuers",
    "another table": TABLE + "[others]\n",
    "an unknown key": TABLE + "client_secret = 'x'\n",
    "http": TABLE.replace("{issuer}", "http://id.example.org"),
    "a blank in it": TABLE.replace("{issuer}", "https://id. example.org"),
    "a query": TABLE.replace("{issuer}", "https://id.example.org?x=1"),
    "a password": TABLE.replace("{issuer}", "https://a:b@id.example.org"),
    "no audience": TABLE.replace('audience = ["voicegraph"]\n', ""),
    "no space": TABLE.replace('space = "home"\n', ""),
    "two spaces": TABLE + "space_claim = 'tenant'\nspaces = { a = 'a' }\n",
    "a claim that names any space": TABLE.replace('space = "home"\n', "space_claim = 'tenant'\n"),
    "everything for everybody": TABLE.replace('scopes = ["ask"]', 'scopes = ["read_all"]'),
    "an unknown scope": TABLE + "scopes_claim = 'scope'\nscopes_of = { a = ['root'] }\n",
    "a claim without meaning": TABLE + "scopes_claim = 'scope'\n",
    "a shared secret": TABLE + "algorithms = ['HS256']\n",
    "no algorithm": TABLE + "algorithms = ['none']\n",
    "a long leeway": TABLE.replace("leeway = 0", "leeway = 3600"),
    "twice": TABLE + TABLE.replace("company", "other"),
    "twice but for capitals": TABLE + TABLE.replace("company", "other").replace("{issuer}", "https://ID.example.org"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_wrong_says_where(name: str) -> None:
    text = WRONG[name].replace("{issuer}", "https://id.example.org")
    with pytest.raises(IssuersUnreadable, match="issuers"):
        parse(text, Path("issuers.toml"))
    assert (
        parse(TABLE.replace("{issuer}", "https://id.example.org"), Path("issuers.toml"))[0].issuer == "https://id.example.org"
    )


def test_a_file_that_anybody_may_write_is_not_taken(file: Path) -> None:
    issuers = Issuers(file)
    assert issuers.all()
    file.chmod(0o666)
    with pytest.raises(IssuersUnreadable, match="anybody"):
        issuers.all()


@given(st.text(max_size=60) | st.lists(st.text(alphabet="eyJhbGciOiJ-_=0", max_size=30), min_size=3, max_size=3).map(".".join))
def test_no_text_is_more_than_not_taken(text: str) -> None:
    assert Bearers(Issuers(Path("none.toml")), KeySets()).find(text) is None
    assert not looks_signed("vg_" + text)


@given(st.data())
def test_nothing_of_a_token_can_be_changed(data: st.DataObject) -> None:
    algorithm = data.draw(st.sampled_from(["RS256", "ES256", "EdDSA"]))
    signing = SigningKey.made("k1", algorithm)
    (issuer,) = parse(TABLE.format(issuer="https://id.example.org"), Path("issuers.toml"))
    (key,) = parse_keys({"keys": [signing.jwk()]})
    claims = {"iss": issuer.issuer, "aud": "voicegraph", "sub": "ana", "exp": 2**33}
    token = jwt.encode(claims, signing.private, algorithm=algorithm)
    assert proved(token, issuer, key, algorithm).subject == "ana"
    place = data.draw(st.integers(0, token.rindex(".") - 1))
    other = data.draw(st.sampled_from("ABCabc019-_.").filter(lambda c: c != token[place]))
    with pytest.raises(NotProved):
        proved(token[:place] + other + token[place + 1 :], issuer, key, algorithm)


def test_a_claim_is_found_by_its_name_first_and_by_its_place_then() -> None:
    claims = {"https://x.example/roles": ["a"], "realm": {"roles": ["b"]}, "a.b": 1, "a": {"b": 2}}
    names = ("https://x.example/roles", "realm.roles", "a.b", "realm.x", "realm.roles.x", "no")
    assert [claim(claims, name) for name in names] == [["a"], ["b"], 1, None, None, None]
