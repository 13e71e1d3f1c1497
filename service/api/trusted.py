"""Which documents may strangers run? In trusted mode those that were read from disk, known by the SHA-256 of their text.

A client sends the whole text, or its hash alone: as `documentId` ("sha256:…" or the bare hash, GraphQL over HTTP), or as
`extensions.persistedQuery.sha256Hash` (Apollo). Nothing that a request holds is ever added to the list."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from service.errors import VoicegraphError

_SHA256 = re.compile(r"[0-9a-f]{64}")
ENDINGS = (".graphql", ".gql")


class DocumentsUnreadable(VoicegraphError):
    code = "trusted_documents_unreadable"
    says = "The trusted documents {path}: {problem}. Give a folder of .graphql files, or a manifest of hashes and texts (JSON)."
    http_status = 500


class DocumentNotTrusted(VoicegraphError):
    code = "document_not_trusted"
    says = "This service runs known documents only, and this is none of them. Its operator has the list."
    http_status = 403


class TrustedDocuments:
    """Text by hash, read once: a new list takes a new start of the service."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = {hashed(text): text for text in texts}

    @classmethod
    def read(cls, path: Path) -> TrustedDocuments:
        """Of a folder, with its folders, or of a manifest. Raises DocumentsUnreadable."""
        try:
            if path.is_dir():
                files = sorted(file for file in path.rglob("*") if file.suffix in ENDINGS)
                texts = [form for file in files for form in _forms(file.read_text(encoding="utf-8"))]
            else:
                texts = _of_manifest(json.loads(path.read_text(encoding="utf-8")), path)
        except (OSError, ValueError, RecursionError) as error:
            raise DocumentsUnreadable(path=path, problem=f"cannot be read ({type(error).__name__})") from None
        if not texts:
            raise DocumentsUnreadable(path=path, problem="there is no document in it")
        return cls(texts)

    def __len__(self) -> int:
        return len(self._texts)

    def resolved(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """`request` with the text of its document in `query`. Raises DocumentNotTrusted."""
        named = document_id(request)
        text = request.get("query")
        known = self._texts.get(named if named is not None else hashed(text or ""))
        if known is None or (text and text != known):
            raise DocumentNotTrusted()
        return {**request, "query": known}


def document_id(request: Mapping[str, Any]) -> str | None:
    """The hash by which a request names its document; None: it does not."""
    persisted = (request.get("extensions") or {}).get("persistedQuery")
    given = request.get("documentId", persisted.get("sha256Hash") if isinstance(persisted, Mapping) else None)
    return given.lower().removeprefix("sha256:") if isinstance(given, str) else None


def hashed(text: str) -> str:
    """SHA-256 of the text as it stands, hex."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _forms(text: str) -> tuple[str, str]:
    """A file as it is, and without the end of its last line, as programs embed it."""
    return text, text.strip()


def _of_manifest(manifest: Any, path: Path) -> list[str]:
    """Of Apollo's ("format": "apollo-persisted-query-manifest"), or of hash → text, as graphql-codegen and Relay write it."""
    if isinstance(manifest, dict) and manifest.get("format") == "apollo-persisted-query-manifest":
        pairs = [(one.get("id"), one.get("body")) for one in manifest.get("operations", ()) if isinstance(one, dict)]
    elif isinstance(manifest, dict):
        pairs = list(manifest.items())
    else:
        raise DocumentsUnreadable(path=path, problem="is no JSON object")
    texts = []
    for id, text in pairs:
        if not isinstance(id, str) or not isinstance(text, str):
            raise DocumentsUnreadable(path=path, problem="has an entry that is not a hash with a text")
        if not _SHA256.fullmatch(id.removeprefix("sha256:")) or id.removeprefix("sha256:") != hashed(text):
            raise DocumentsUnreadable(path=path, problem=f"{id[:80]!r} is not the SHA-256 of its text")
        texts.append(text)
    return texts
