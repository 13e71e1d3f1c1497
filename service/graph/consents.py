"""What did somebody say about being known, heard or read, and when? For themselves, and for whoever looks after the space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from service.graph.driver import rows
from service.graph.paging import Page, Paged, paged, parameters
from service.types.consents import ConsentRecord, Said
from service.types.people import Consent, ConsentPurpose

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

LIST_CONSENTS = """
MATCH (p:Person {space: $space})-[:GAVE]->(c:Consent) WHERE p.id IN $ids
WITH p, c, [c.at.epochSeconds * 1000000000 + c.at.nanosecond, c.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place, p.id AS person_id, c {.id, .purpose, .state, .text_version, .channel, .at, .evidence, .recorded_by, .created_at}
  AS consent
ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""


async def list_consents(tx: Tx, scope: ReadScope, subject: Sequence[str], *, page: Page) -> Paged[ConsentRecord]:
    """All that `subject` ever said, newest first: ids of the asker as `find_subject` gives them, or of anybody for who may look
    after the space's people."""
    found = await rows(
        tx, LIST_CONSENTS, space=scope.space, ids=list(subject), **parameters(page, newest_first=True)
    )  # fmt: skip
    return paged(page, [row["place"] for row in found], {row["consent"]["id"]: _record(row) for row in found})


def _record(row: dict[str, Any]) -> ConsentRecord:
    one = row["consent"]
    said = Said(
        state=Consent(one["state"]),
        purpose=ConsentPurpose(one["purpose"]),
        text_version=one["text_version"],
        channel=one["channel"],
        at=one["at"],
        evidence=one["evidence"],
        recorded_by=one["recorded_by"],
    )
    return ConsentRecord(one["id"], row["person_id"], said, one["created_at"])
