"""What was erased, and what proves it? Receipts: kept until their space goes, read by who erased or administers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from service.errors import VoicegraphError
from service.graph.driver import Tx, rows
from service.graph.paging import Page, Paged, paged, parameters
from service.types.erasure import Erasure, Receipt, Subject, SubjectKind


class SessionErased(VoicegraphError):
    code = "session_erased"
    says = (
        "Session {session_id} was erased, or a new revision took its place (receipt {receipt}). Give another session id if it "
        "is to be remembered after all."
    )
    http_status = 409


FIND_ERASED_SESSION = """
OPTIONAL MATCH (r:Receipt {space: $space, subject: $session_id}) WHERE r.kind = 'session'
OPTIONAL MATCH (e:Erasure {space: $space, subject: $session_id}) WHERE e.kind = 'session'
RETURN coalesce(e.id, r.id) AS receipt LIMIT 1
"""

SAVE_RECEIPT = """
MATCH (e:Erasure {id: $id, space: $space})
DETACH DELETE e
MERGE (r:Receipt {id: $id})
ON CREATE SET r.space = $space, r.created_at = $asked_at, r += $properties
"""

FIND_RECEIPT = """
MATCH (r:Receipt {id: $id, space: $space})
RETURN r {.*} AS receipt
"""

FIND_RECEIPT_OF = """
MATCH (r:Receipt {space: $space, subject: $subject}) WHERE r.kind = $kind
RETURN r {.*} AS receipt ORDER BY r.created_at DESC LIMIT 1
"""

LIST_RECEIPTS = """
MATCH (r:Receipt {space: $space})
WHERE r.created_at IS NOT NULL AND ($subjects IS NULL OR r.subject IN $subjects OR r.asked_by IN $subjects)
WITH r, [r.created_at.epochSeconds * 1000000000 + r.created_at.nanosecond, r.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place, r {.*} AS receipt
ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""


async def refuse_erased(tx: Tx, space: str, session_id: str) -> None:
    """What was erased is not brought back by who delivers it again. Raises SessionErased."""
    (row,) = await rows(tx, FIND_ERASED_SESSION, space=space, session_id=session_id)
    if row["receipt"] is not None:
        raise SessionErased(session_id=session_id, receipt=row["receipt"])


async def save_receipt(tx: Tx, erasure: Erasure, receipt: Receipt) -> None:
    """In place of the record of the erasure, whose names go with it."""
    properties = {
        "kind": receipt.subject.kind.value,
        "subject": receipt.subject.id,
        "asked_by": receipt.asked_by,
        "asked_at": receipt.asked_at,
        "completed_at": receipt.completed_at,
        "counts": json.dumps(dict(receipt.counts), sort_keys=True),
        "document": receipt.document,
        "signature": receipt.signature,
        "key": receipt.key,
    }
    await tx.run(SAVE_RECEIPT, id=erasure.id, space=erasure.space, asked_at=erasure.at, properties=properties)


async def find_receipt(tx: Tx, space: str, receipt_id: str) -> Receipt | None:
    found = await rows(tx, FIND_RECEIPT, space=space, id=receipt_id)
    return _receipt(found[0]["receipt"]) if found else None


async def find_receipt_of(tx: Tx, space: str, subject: Subject) -> Receipt | None:
    """The last of this subject."""
    found = await rows(tx, FIND_RECEIPT_OF, space=space, kind=subject.kind.value, subject=subject.id)
    return _receipt(found[0]["receipt"]) if found else None


async def list_receipts(tx: Tx, space: str, *, page: Page, of: tuple[str, ...] | None = None) -> Paged[Receipt]:
    """The newest first: all of the space, or those of subjects, or asked for by, ids of `of`."""
    subjects = None if of is None else list(of)
    found = await rows(tx, LIST_RECEIPTS, space=space, subjects=subjects, **parameters(page, newest_first=True))
    receipts = {row["receipt"]["id"]: _receipt(row["receipt"]) for row in found}
    return paged(page, [row["place"] for row in found], receipts)


def _receipt(row: Mapping[str, Any]) -> Receipt:
    return Receipt(
        id=row["id"],
        space=row["space"],
        subject=Subject(SubjectKind(row["kind"]), row["subject"]),
        asked_by=row["asked_by"],
        asked_at=row["asked_at"],
        completed_at=row["completed_at"],
        counts=json.loads(row["counts"]),
        document=row["document"],
        signature=row["signature"],
        key=row["key"],
    )
