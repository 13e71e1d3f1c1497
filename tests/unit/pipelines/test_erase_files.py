"""Of what lies in files, what goes with somebody, and what is another's or is still written?"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

from service.graph.accounts import account_id
from service.pipelines.erase_files import Files
from service.pipelines.stream_notes import NOTE, SOUND, StreamNote
from service.pipelines.token_accounts import TokensNotRead
from service.types.erasure import Erasure, Subject, SubjectKind
from service.types.meeting import AccountKey

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NOTHING = {"recordings": 0, "names of tokens": 0}
OWN, OTHER, SHARED = "a" * 64, "b" * 64, "c" * 64


def account(name: str) -> str:
    return account_id("home", AccountKey("local", name))


def files(folder: Path) -> Files:
    tokens = [
        {"space": "home", "issuer": "local", "subject": subject, "person_id": person}
        for subject, person in (("phone", "ana"), ("kiosk", "ana"), ("kiosk", None), ("ben", "ben"))
    ]
    (folder / "tokens.json").write_text(json.dumps({"tokens": [*tokens, {**tokens[0], "space": "office"}]}))
    return Files(folder / "uploads", folder / "meetings", folder / "chat", folder / "tokens.json")


def put(folder: Path, sender: str, name: str, content: str = "sound") -> str:
    path = folder / "uploads" / sender / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return f"{sender}/{name}"


def stream(folder: Path, sender: str, id: str, *, upload: str | None = None) -> set[str]:
    note = StreamNote(id, "home", sender, "t", "", None, NOW.isoformat(), upload)
    told = put(folder, sender, f"{SOUND}{id}{NOTE}", json.dumps(asdict(note)))
    return {told, put(folder, sender, upload or f"{SOUND}{id}")}


def test_what_others_sent_and_what_is_still_written_stays(tmp_path: Path) -> None:
    kept = files(tmp_path)
    assert kept.accounts_of("home", ["ana"]) == (account("phone"),), "a login that others have is nobody's own"
    asked = Erasure(
        id="e", space="home", subject=Subject(SubjectKind.PERSON, "ana"), asked_by="", why="", at=NOW, people=("ana",),
        sessions=("done", "open"), accounts=(account("phone"),), uploads=(OWN, OTHER),
    )  # fmt: skip
    gone = {put(tmp_path, account("phone"), SHARED), put(tmp_path, account("ben"), OWN), put(tmp_path, "with-a-job", OWN)}
    gone |= stream(tmp_path, account("phone"), "over", upload="d" * 64)
    stays = {put(tmp_path, "of-the-office", OWN), put(tmp_path, account("ben"), OTHER), put(tmp_path, account("kiosk"), SHARED)}
    stays |= stream(tmp_path, account("phone"), "sent") | stream(tmp_path, account("ben"), "bens", upload="e" * 64)

    counted = kept.erase(asked, ["open"], recordings=[OWN], accounts=["with-a-job"])
    left = {str(path.relative_to(tmp_path / "uploads")) for path in (tmp_path / "uploads").glob("*/*")}
    assert left == stays and not left & gone and counted["recordings"] > 0
    assert kept.erase(asked, ["open"], recordings=[OWN], accounts=["with-a-job"]) == NOTHING
    told = json.loads((tmp_path / "tokens.json").read_text())["tokens"]
    assert [one["subject"] for one in told] == ["erased", "erased", "kiosk", "ben", "phone"], "of another space, another's"
    assert [one.get("account") for one in told] == [account("phone"), account("kiosk"), None, None, None]
    assert kept.accounts_of("home", ["ana"]) == (account("phone"),), "what a backup brings back of it is hers"

    (tmp_path / "tokens.json").write_text("{}")
    with pytest.raises(TokensNotRead):
        kept.accounts_of("home", ["ana"])
