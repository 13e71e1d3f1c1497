"""Does a receipt prove anything, and does the ledger lose nothing?"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graph_schema.stores import STORES
from service.pipelines.erase_stores import DONE, UNTOUCHED, done_in
from service.pipelines.erasure_ledger import Entry, Ledger, LedgerUnreadable
from service.pipelines.receipts import ReceiptNotGenuine, find_key, load_key, portable, read_receipt, signed, verified
from service.types.erasure import Erasure, Probe, Subject, SubjectKind

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ANA = Subject(SubjectKind.PERSON, "ana")


def an_erasure() -> Erasure:
    return Erasure(id="e1", space="home", subject=ANA, asked_by="admin", why="", at=NOW, people=("ana", "a2"), names=("ana",))


def nothing_found() -> Probe:
    return Probe(by_id=0, by_text=0, by_vector=0, by_scan=0, asked={"nodes": 7})


def test_every_store_says_what_an_erasure_does_there() -> None:
    """A store without an eraser must not come to be unseen."""
    assert set(DONE) == set(SubjectKind)
    for kind, done in DONE.items():
        assert set(done) == {store.name for store in STORES}, kind
    for kind in (SubjectKind.MESSAGE, SubjectKind.FACT):
        touched = {name for name in ("accounts", "grants", "uploads", "consents") if not DONE[kind][name].startswith(UNTOUCHED)}
        assert not touched, "no step of the sweep runs there"


def test_a_receipt_is_verified_without_us_and_no_other_is(tmp_path: Path) -> None:
    key, other = load_key(tmp_path / "receipts.key"), load_key(tmp_path / "other.key")
    assert (tmp_path / "receipts.key").stat().st_mode & 0o077 == 0 and find_key(tmp_path / "receipts.key") is not None
    told = portable(signed(an_erasure(), nothing_found(), done_in(STORES, SubjectKind.PERSON), key, NOW))
    document = verified(told, key.public)
    assert document["subject"] == {"kind": "person", "id": "ana", "ids": ["ana", "a2"]}
    assert "names" not in document and set(document["stores"]) == {store.name for store in STORES}
    assert verified(told)["receipt"] == "e1"
    with pytest.raises(ReceiptNotGenuine):
        verified(told, other.public)
    for changed in (
        {**told, "document": told["document"].replace('"ana"', '"ben"')},
        {**told, "key": other.public},
        {**told, "signature": portable(signed(an_erasure(), nothing_found(), {}, key, NOW))["signature"]},
        {**told, "signature": "x"},
        {"document": told["document"]},
        {**told, "document": "[]"},
    ):
        with pytest.raises(ReceiptNotGenuine):
            verified(changed)
    for text in ("", "[]", '"x"'):
        (tmp_path / "r.json").write_text(text)
        with pytest.raises(ReceiptNotGenuine):
            read_receipt(tmp_path / "r.json")


def test_the_ledger_loses_no_line_and_takes_none_that_was_cut_off(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "kept" / "erasures.jsonl")
    assert ledger.entries() == []
    entries = [Entry(f"e{n}", "home", ANA, NOW, ("ana",)) for n in range(3)]
    assert ledger.add(entries[:2]) == 2 and ledger.add(entries[:2]) == 0
    with ledger.path.open("a") as file:
        file.write(json.dumps({"id": "cut"})[:8])
    assert ledger.entries() == entries[:2]
    assert ledger.add(entries) == 1 and ledger.entries() == entries
    retold = Entry("e1", "home", ANA, NOW, ("ana", "a2"))
    assert ledger.add([retold]) == 1 and ledger.entries() == [entries[0], retold, entries[2]], "who it is of, as told last"
    assert ledger.path.stat().st_mode & 0o077 == 0
    ledger.strike("e1")
    ledger.strike("nobody's")
    assert ledger.entries() == [entries[0], entries[2]]
    ledger.space_forgotten("office", NOW)
    assert ledger.entries() == [entries[0], entries[2]]
    ledger.space_forgotten("home", NOW)
    forgotten = [replace(entries[n], forgotten_at=NOW) for n in (0, 2)]
    assert ledger.add([entries[0]]) == 0 and ledger.entries() == forgotten
    elsewhere = Ledger(tmp_path / "elsewhere.jsonl")
    assert elsewhere.add(forgotten) == 2 and elsewhere.entries() == forgotten
    assert ledger.add([Entry("e9", "home", ANA, NOW, ("ana",))]) == 1 and ledger.entries()[2].forgotten_at is None
    later = NOW + timedelta(days=1)
    ledger.space_forgotten("home", later)
    times = [entry.forgotten_at for entry in ledger.entries()]
    assert times == [NOW, NOW, later], "of its first life, it was forgotten then"
    ledger.path.write_text("no ledger\n" + ledger.path.read_text())
    with pytest.raises(LedgerUnreadable):
        ledger.entries()
