"""Which images were shown with a message? Written with it, read under its gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from service.graph.driver import rows
from service.types.ids import derived
from service.types.told import Image

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

SAVE_IMAGES = """
UNWIND $images AS row
MATCH (m:Message {space: $space, id: row.message_id})
MERGE (i:Image {id: row.id})
ON CREATE SET i.space = $space, i.created_at = datetime()
SET i += row.properties
MERGE (i)-[:ATTACHED_TO]->(m)
"""


async def save_images(tx: Tx, space: str, images: Mapping[str, Sequence[Image]]) -> None:
    """Message id → its images, in the transaction that writes the messages; safe to repeat."""
    found: list[dict[str, Any]] = [
        {
            "message_id": message,
            "id": derived("image", message, str(position)),
            "properties": {"reference": image.reference, "caption": image.caption, "position": position},
        }
        for message, shown in images.items()
        for position, image in enumerate(shown)
    ]
    if found:
        await tx.run(SAVE_IMAGES, space=space, images=found)


LIST_IMAGES = """
UNWIND $ids AS wanted
MATCH (m:Message {id: wanted, space: $space})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences
MATCH (i:Image)-[:ATTACHED_TO]->(m)
WITH m, i ORDER BY i.position
RETURN m.id AS message_id, collect(i {.reference, .caption}) AS images
"""


async def list_images(tx: Tx, scope: ReadScope, message_ids: Sequence[str]) -> dict[str, list[Image]]:
    """Message id → its images in the order shown; messages outside the scope are missing, like those without images."""
    found = await rows(tx, LIST_IMAGES, space=scope.space, audiences=scope.audiences, ids=list(message_ids))
    return {row["message_id"]: [Image(i["reference"], i["caption"]) for i in row["images"]] for row in found}
