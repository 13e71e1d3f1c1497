from __future__ import annotations

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from service.api.tokens import (
    NoSuchToken,
    TokenFile,
    TokensUnreadable,
    UnknownScope,
    drop_old_leave,
    issue,
    list_tokens,
    match,
    parse,
    revoke,
    rotate,
)
from service.pipelines.token_accounts import forget_names


def test_a_token_is_found_and_the_file_does_not_hold_it(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    token, entry = issue(path, subject="ana", space="home", scopes=["ask"], person_id="p1")
    found = TokenFile(path).find(token)
    assert found == entry
    assert found.principal.person_id == "p1" and not found.principal.may_act_for and found.principal.scopes == {"ask"}
    assert token not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(token) > 40 and token.startswith("vg_")


def test_another_token_finds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    token, _ = issue(path, subject="ana", space="home")
    tokens = TokenFile(path)
    assert tokens.find(token[:-1]) is None and tokens.find("") is None and tokens.find("vg_é") is None


def test_a_token_of_somebody_erased_keeps_its_account_and_not_what_they_are_called(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    (hers, entry), (his, _) = (issue(path, subject=name, space="home", person_id=name) for name in ("ana", "ben"))
    before = path.read_text()
    assert forget_names(path, "home", ["ana"]) == 1 and forget_names(path, "home", ["ana"]) == 0
    found, others = TokenFile(path).find(hers), TokenFile(path).find(his)
    assert '"subject": "ana"' in before and '"subject": "ana"' not in path.read_text()
    assert found and found.principal == entry.principal and found.subject == "erased"
    assert others and others.subject == "ben" and path.stat().st_mode & 0o077 == 0
    rotate(path, entry.id, overlap=timedelta(0))
    assert {one.account for one in list_tokens(path)} == {entry.principal.account_id, None}
    assert forget_names(tmp_path / "none.json", "home", ["ana"]) == 0


def test_a_missing_file_has_no_tokens(tmp_path: Path) -> None:
    assert TokenFile(tmp_path / "none.json").find("vg_x") is None


def test_issuing_and_revoking_take_effect_without_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    tokens = TokenFile(path)
    first, entry = issue(path, subject="ana", space="home")
    assert tokens.find(first) is not None
    second, _ = issue(path, subject="ben", space="home")
    assert tokens.find(second) is not None and tokens.find(first) is not None
    assert revoke(path, entry.id) == entry
    assert tokens.find(first) is None and tokens.find(second) is not None
    assert [e.subject for e in list_tokens(path)] == ["ben"]
    with pytest.raises(NoSuchToken):
        revoke(path, entry.id)


def test_a_new_secret_leaves_the_token_what_it_is_and_the_old_one_some_time(tmp_path: Path) -> None:
    path, now = tmp_path / "tokens.json", datetime.now(UTC)
    first, made = issue(path, subject="ana", space="home", scopes=["ingest"], person_id="p1")
    second, entry = rotate(path, made.id, overlap=timedelta(hours=1))
    tokens = TokenFile(path)
    assert tokens.find(first) == tokens.find(second) == entry and entry.principal == made.principal and entry.id == made.id
    assert match([entry], first, now + timedelta(hours=2)) is None and match([entry], second, now + timedelta(hours=2)) == entry
    third, entry = rotate(path, made.id, overlap=timedelta(0))
    assert [tokens.find(one) for one in (first, second, third)] == [None, None, entry]
    assert tokens.find("") is None and not any(secret in path.read_text() for secret in (first, second, third))
    with pytest.raises(NoSuchToken):
        rotate(path, "another", overlap=timedelta(0))


def test_an_older_file_is_read_and_its_leave_to_ask_for_others_opens_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    issue(path, subject="ana", space="home")
    raw = json.loads(path.read_text())
    for entry in raw["tokens"]:
        for name in ("rotated_at", "before", "before_until"):
            del entry[name]
        entry["may_act_for"] = ["p2"]
    path.write_text(json.dumps(raw))
    (entry,) = list_tokens(path)
    assert entry.may_act_for == {"p2"} and entry.principal.may_act_for == frozenset()
    drop_old_leave(path)
    assert list_tokens(path)[0].may_act_for == frozenset()


def test_an_expired_token_finds_nothing(tmp_path: Path) -> None:
    path, now = tmp_path / "tokens.json", datetime.now(UTC)
    token, entry = issue(path, subject="ana", space="home", expires_at=now + timedelta(hours=1))
    assert match([entry], token, now) == entry
    assert match([entry], token, now + timedelta(hours=1)) is None


def test_one_subject_has_one_account_per_space(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    _, first = issue(path, subject="ana", space="home")
    _, again = issue(path, subject="ana", space="home")
    _, elsewhere = issue(path, subject="ana", space="work")
    assert first.principal.account_id == again.principal.account_id != elsewhere.principal.account_id


def test_a_file_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    token, _ = issue(path, subject="ana", space="home")
    path.chmod(0o644)
    with pytest.raises(TokensUnreadable, match="0600"):
        TokenFile(path).find(token)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"tokens": 3}', '{"tokens": [{}]}', '{"tokens": [{"id": "x"}]}'])
def test_a_broken_file_is_named_and_not_quoted(text: str) -> None:
    with pytest.raises(TokensUnreadable, match="not a tokens file"):
        parse(text, path=Path("tokens.json"))


def test_an_unknown_scope_is_refused_when_issued_and_when_read(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    with pytest.raises(UnknownScope):
        issue(path, subject="ana", space="home", scopes=["root"])
    issue(path, subject="ana", space="home")
    raw = json.loads(path.read_text())
    raw["tokens"][0]["scopes"] = ["root"]
    with pytest.raises(TokensUnreadable):
        parse(json.dumps(raw), path=path)
