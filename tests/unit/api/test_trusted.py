"""Trusted documents are read from a folder or from the manifests that tools write; a list that is none is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service.api.trusted import DocumentNotTrusted, DocumentsUnreadable, TrustedDocuments, hashed

ONE, OTHER = "query One { space { name } }", "query Other { encoders { name } }"
APOLLO = {
    "format": "apollo-persisted-query-manifest",
    "version": 1,
    "operations": [{"id": hashed(text), "name": "X", "type": "query", "body": text} for text in (ONE, OTHER)],
}
CODEGEN = {hashed(text): text for text in (ONE, OTHER)}


@pytest.mark.parametrize("manifest", [APOLLO, CODEGEN, {f"sha256:{hash}": text for hash, text in CODEGEN.items()}])
def test_a_manifest_is_read(manifest: Any, tmp_path: Path) -> None:
    file = tmp_path / "manifest.json"
    file.write_text(json.dumps(manifest))
    trusted = TrustedDocuments.read(file)
    assert len(trusted) == 2
    assert trusted.resolved({"documentId": hashed(OTHER), "variables": {"a": 1}})["query"] == OTHER
    for wrong in (
        {"query": ONE + " "},
        {"documentId": "x"},
        {"documentId": hashed(ONE), "query": OTHER},
        {"documentId": 3},
        {},
    ):
        with pytest.raises(DocumentNotTrusted):
            trusted.resolved(wrong)


def test_a_folder_is_read_with_its_folders_and_a_text_with_or_without_its_last_line_s_end(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "one.graphql").write_text(ONE + "\n")
    (tmp_path / "more" / "other.gql").write_text(OTHER)
    (tmp_path / "notes.txt").write_text("query Third { space { name } }")
    trusted = TrustedDocuments.read(tmp_path)
    assert {trusted.resolved({"query": text})["query"] for text in (ONE, ONE + "\n", OTHER)} == {ONE, ONE + "\n", OTHER}
    with pytest.raises(DocumentNotTrusted):
        trusted.resolved({"query": "query Third { space { name } }"})


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", "[1]", '{"a": 1}', json.dumps({"0" * 64: ONE}), json.dumps({"ed9e": ONE}),
     json.dumps({**APOLLO, "operations": [{"id": "x", "body": ONE}]}), json.dumps({**APOLLO, "operations": []})],
    ids=range(9),
)  # fmt: skip
def test_a_list_that_is_none_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "manifest.json"
    file.write_text(content)
    with pytest.raises(DocumentsUnreadable, match="trusted documents"):
        TrustedDocuments.read(file)
    with pytest.raises(DocumentsUnreadable):
        TrustedDocuments.read(tmp_path / "missing")
