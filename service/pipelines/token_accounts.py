"""Which accounts are somebody's by tokens of theirs, and what are they called there? No node of the graph has them: the file of
tokens says whose each is."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from service.errors import VoicegraphError
from service.graph.accounts import account_id
from service.pipelines.private_json import replaced
from service.types.meeting import AccountKey

ERASED = "erased"
"""Stands where a token said to whom it was given."""


class TokensNotRead(VoicegraphError):
    code = "token_accounts_unreadable"
    says = "{path} is not a file of tokens ({problem}): whose accounts they are cannot be known. Mend it, and ask again."
    http_status = 500


def token_accounts(path: Path, space: str) -> dict[str, frozenset[str | None]]:
    """Account of `space` that a token was given to → the people that its tokens are of; None: one is nobody's. Without a file
    there are none. Raises TokensNotRead."""
    found: dict[str, frozenset[str | None]] = {}
    try:
        told = json.loads(path.read_text(encoding="utf-8"))["tokens"]
        for one in told:
            if one["space"] == space:
                account = _account(one)
                found[account] = found.get(account, frozenset()) | {one.get("person_id")}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise TokensNotRead(path=path, problem=type(error).__name__) from error
    return found


def accounts_of(path: Path, space: str, people: Collection[str]) -> tuple[str, ...]:
    """Accounts all of whose tokens are of `people`, by id. Raises TokensNotRead."""
    found = token_accounts(path, space)
    return tuple(sorted(account for account, whose in found.items() if whose and whose <= set(people)))


def forget_names(path: Path, space: str, people: Collection[str]) -> int:
    """Tokens of `people` say no more to whom they were given; how many did. Their account stays, by its id: asked for again
    with them, an erasure is the same, and what a backup brings back of that account is theirs. Raises TokensNotRead."""
    if not path.exists():
        return 0
    with replaced(path) as write:
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            called = [one for one in told["tokens"] if _is_called(one, space, people)]
            for one in called:
                one |= {"account": _account(one), "subject": ERASED}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise TokensNotRead(path=path, problem=type(error).__name__) from error
        if called:
            write(told)
    return len(called)


def _is_called(one: dict[str, Any], space: str, people: Collection[str]) -> bool:
    return one["space"] == space and one.get("person_id") in people and one.get("account") is None


def _account(one: dict[str, Any]) -> str:
    return str(one.get("account") or account_id(one["space"], AccountKey(one["issuer"], one["subject"])))
