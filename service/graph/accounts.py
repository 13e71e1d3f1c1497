"""Whose login is this? An Account (issuer and subject) is bound to one Person by somebody's word, and to nobody else.

A merge moves no binding: the account stays bound to the very person that it was bound to, and who else that is by merges is
told by whoever reads, as for turns: shown by all merges, and may read by confirmed ones only (service/graph/access.py)."""

from __future__ import annotations

from collections.abc import Collection

from service.graph.driver import Tx, rows
from service.types.ids import derived
from service.types.meeting import AccountKey

MAILTO = "mailto"
"""Issuer of an e-mail address that a platform verified."""


def canonical(key: AccountKey) -> AccountKey:
    """The form that accounts are kept by: issuers and e-mail addresses in lower case, no blanks around."""
    issuer, subject = key.issuer.strip().lower(), key.subject.strip()
    return AccountKey(issuer, subject.lower() if issuer == MAILTO else subject)


def account_id(space: str, key: AccountKey) -> str:
    one = canonical(key)
    return derived("account", space, one.issuer, one.subject)


RESOLVE_ACCOUNTS = """
MATCH (a:Account {space: $space})-[:IS]->(p:Person {space: $space})
WHERE a.id IN $ids AND NOT coalesce(a.shared, false) AND coalesce(p.tombstone, false) = false
RETURN a.id AS account, p.id AS person_id
"""


async def resolve_accounts(tx: Tx, space: str, keys: Collection[AccountKey]) -> dict[AccountKey, str]:
    """Each of `keys` (as given) that is bound → id of its Person. Left out: accounts nobody bound, those that several people
    use, and those of whom was erased. For writers of what follows from it, who decide before there is anybody to gate for."""
    ids = {key: account_id(space, key) for key in keys}
    found = await rows(tx, RESOLVE_ACCOUNTS, space=space, ids=sorted(set(ids.values())))
    bound = {row["account"]: row["person_id"] for row in found}
    return {key: bound[id] for key, id in ids.items() if id in bound}
