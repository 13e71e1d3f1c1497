"""Which accounts are somebody's by tokens of theirs? No node of the graph has them: the file of tokens says whose each is."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from service.errors import VoicegraphError
from service.graph.accounts import account_id
from service.types.meeting import AccountKey


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
                account = account_id(space, AccountKey(one["issuer"], one["subject"]))
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
