"""A small real OpenID provider on loopback for tests: discovery, key set and token endpoint over HTTP, real keys, rotation."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

CLIENT, SECRET = "voicegraph-client", "a secret of the client"


@lru_cache
def private_key(kind: str, number: int = 0) -> Any:
    """RSA takes a fifth of a second to make, so each is made once a run."""
    match kind:
        case "RS256" | "PS256":
            return rsa.generate_private_key(65537, 2048)
        case "RS256 short":
            return rsa.generate_private_key(65537, 1024)
        case "ES256":
            return ec.generate_private_key(ec.SECP256R1())
        case "EdDSA":
            return ed25519.Ed25519PrivateKey.generate()
    raise AssertionError(kind)


@dataclass(frozen=True)
class SigningKey:
    id: str | None
    algorithm: str
    private: Any = field(repr=False)

    @classmethod
    def made(cls, id: str | None, algorithm: str = "RS256", number: int = 0) -> SigningKey:
        return cls(id, algorithm, private_key(algorithm, number))

    def jwk(self) -> dict[str, Any]:
        by_kind = {"RS": RSAAlgorithm, "PS": RSAAlgorithm, "ES": ECAlgorithm, "Ed": OKPAlgorithm}[self.algorithm[:2]]
        found: dict[str, Any] = by_kind.to_jwk(self.private.public_key(), as_dict=True)
        found.pop("key_ops", None)
        return {**found, "use": "sig", "alg": self.algorithm, **({"kid": self.id} if self.id else {})}


class OidcServer(ThreadingHTTPServer):
    """Signs with the first of `keys`, and publishes all of them."""

    daemon_threads = True

    def __init__(self) -> None:
        self.keys = [SigningKey.made("k1")]
        self.down = False
        self.answering = threading.Event()
        """While it is not set, whoever asks waits."""
        self.answering.set()
        self.discovery: dict[str, Any] = {}
        """Put over what the discovery document says."""
        self.key_set: Any = None
        """Instead of the key set."""
        self.asked: Counter[str] = Counter()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def token(
        self, subject: str = "ana", *, key: SigningKey | None = None, header: dict[str, Any] | None = None, **claims: Any
    ) -> str:
        """A signed token for an hour; a claim that is None is left out."""
        now, key = time.time(), key or self.keys[0]
        usual = {"iss": self.issuer, "aud": "voicegraph", "sub": subject, "iat": int(now), "exp": int(now) + 3600}
        said = {name: value for name, value in (usual | claims).items() if value is not None}
        headers = {**({"kid": key.id} if key.id else {}), **(header or {})}
        return jwt.encode(said, key.private, algorithm=key.algorithm.split()[0], headers=headers)

    def answer(self, path: str) -> Any:
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.issuer,
                "jwks_uri": f"{self.issuer}/keys",
                "token_endpoint": f"{self.issuer}/token",
                **self.discovery,
            }
        if path == "/keys":
            return self.key_set if self.key_set is not None else {"keys": [key.jwk() for key in self.keys]}
        return None


class _Handler(BaseHTTPRequestHandler):
    server: OidcServer

    def do_GET(self) -> None:
        self.server.asked[self.path] += 1
        assert self.server.answering.wait(60)
        found = None if self.server.down else self.server.answer(self.path)
        self._say(503 if self.server.down else 404 if found is None else 200, found)

    def do_POST(self) -> None:
        """RFC 6749 §4.4: client credentials; whose token it is says `login`, as a login page would have found out."""
        form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if self.headers.get("authorization") != f"Basic {basic}" or form["grant_type"] != ["client_credentials"]:
            return self._say(401, {"error": "invalid_client"})
        token = self.server.token(form["login"][0], azp=CLIENT)
        return self._say(200, {"access_token": token, "token_type": "Bearer", "expires_in": 3600})

    def _say(self, status: int, found: Any) -> None:
        body = found if isinstance(found, bytes) else json.dumps(found).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        return


@contextmanager
def oidc_server() -> Iterator[OidcServer]:
    with OidcServer() as server:
        thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
