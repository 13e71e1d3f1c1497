"""Which images were shown with a message, and which show what is looked for? Written with it, read under its gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from service.graph.cypher import for_space
from service.graph.driver import rows
from service.graph.search import narrowed
from service.types.audio import Samples
from service.types.ids import derived
from service.types.images import FoundImage, KnownImage
from service.types.search import Filters
from service.types.told import Image

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

SAVE_IMAGES = """
UNWIND $images AS row
MATCH (m:Message {space: $space, id: row.message_id}) WHERE m.erased_at IS NULL
MERGE (i:Image {id: row.id})
ON CREATE SET i.space = $space, i.created_at = datetime()
SET i += row.properties
MERGE (i)-[:ATTACHED_TO]->(m)
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """The images of one message, in their order."""

    images: Sequence[Image]
    vectors: Sequence[Samples | None] = ()
    """Of their captions, in the session's text embedding space; None where there is none. Empty: not embedded."""


async def save_images(tx: Tx, space: str, shown: Mapping[str, Shown], embedder: str | None) -> None:
    """Message id → its images, in the transaction that writes the messages; safe to repeat."""
    found: list[dict[str, Any]] = []
    for message, given in shown.items():
        for position, image in enumerate(given.images):
            properties = {"reference": image.reference, "caption": image.caption, "position": position}
            vector = given.vectors[position] if given.vectors else None
            if vector is not None and embedder is not None:
                properties[for_space("embedding__<space>", embedder)] = vector.tolist()
            found.append({"message_id": message, "id": derived("image", message, str(position)), "properties": properties})
    if found:
        await tx.run(SAVE_IMAGES, space=space, images=found)


LIST_IMAGES = """
UNWIND $ids AS wanted
MATCH (m:Message {id: wanted, space: $space})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences
MATCH (i:Image)-[:ATTACHED_TO]->(m)
WITH m, i ORDER BY i.position
RETURN m.id AS message_id, collect(i {.id, .reference, .caption}) AS images
"""


async def list_images(tx: Tx, scope: ReadScope, message_ids: Sequence[str]) -> dict[str, list[KnownImage]]:
    """Message id → its images in the order shown; messages outside the scope are missing, like those without images."""
    found = await rows(tx, LIST_IMAGES, space=scope.space, audiences=scope.audiences, ids=list(message_ids))
    return {
        row["message_id"]: [KnownImage(i["id"], Image(i["reference"], i["caption"])) for i in row["images"]] for row in found
    }


NEAREST_IMAGES = """
MATCH (i:Image {space: $space})-[:ATTACHED_TO]->(m:Message)-[:FOR]->(a:Audience)
WHERE a.id IN $audiences AND i.embedding__<space> IS NOT NULL
  AND ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
  AND ($by_or_to IS NULL OR m.speaker_id IN $by_or_to
       OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $by_or_to })
  AND ($sessions IS NULL OR m.session_id IN $sessions)
  AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
WITH i, m, vector.similarity.cosine(i.embedding__<space>, $vector) AS score
ORDER BY score DESC, i.id LIMIT $k
RETURN i {.id, .reference, .caption, message: m.id, session: m.session_id, index: m.index, score: 2 * score - 1} AS image
"""


async def nearest_images(
    tx: Tx, scope: ReadScope, space_name: str, vector: Samples, filters: Filters, k: int
) -> list[FoundImage]:
    """The `k` visible images nearest to `vector` (L2-normalised, of the embedding space `space_name`), exactly, best first;
    `filters` are asked of the messages that they were shown with.

    Walks all images of the space: those of a hundred thousand would want the index, which here could only filter afterwards."""
    query = for_space(NEAREST_IMAGES, space_name)
    found = await rows(tx, query, vector=vector.tolist(), k=k, **await narrowed(tx, scope, filters))
    return [
        FoundImage(
            one["id"], one["message"], Image(one["reference"], one["caption"]), one["score"], (one["session"], one["index"])
        )
        for one in (row["image"] for row in found)
    ]


COUNT_IMAGES = """
MATCH (i:Image {space: $space})-[:ATTACHED_TO]->(:Message)-[:FOR]->(a:Audience)
WHERE a.id IN $audiences AND i.embedding__<space> IS NOT NULL
RETURN count(i) AS n
"""


async def count_images(tx: Tx, scope: ReadScope, space_name: str) -> int:
    """How many images the scope holds that have an embedding in `space_name`."""
    found = await rows(tx, for_space(COUNT_IMAGES, space_name), space=scope.space, audiences=scope.audiences)
    return int(found[0]["n"])


FIND_IMAGE_VECTOR = """
MATCH (i:Image {space: $space, id: $image_id})-[:ATTACHED_TO]->(:Message)-[:FOR]->(a:Audience)
WHERE a.id IN $audiences
RETURN i.embedding__<space> AS vector
"""


async def find_image_vector(tx: Tx, scope: ReadScope, space_name: str, image_id: str) -> Samples | None:
    """None for an image outside the scope, and for one without an embedding in that space."""
    found = await rows(
        tx, for_space(FIND_IMAGE_VECTOR, space_name), space=scope.space, audiences=scope.audiences, image_id=image_id
    )
    return np.asarray(found[0]["vector"], dtype=np.float32) if found and found[0]["vector"] else None


LIST_IMAGES_WITHOUT_VECTOR = """
MATCH (i:Image {space: $space})
WHERE i.embedding__<space> IS NULL
RETURN i {.id, .reference, .caption} AS image ORDER BY i.id
"""

SAVE_IMAGE_VECTORS = """
UNWIND $vectors AS row
MATCH (i:Image {space: $space, id: row.id})
SET i += row.properties
"""


async def list_images_without_vector(tx: Tx, space: str, space_name: str) -> list[tuple[str, Image]]:
    """(id, image) of all that have no embedding in `space_name` yet, for who embeds them: no gate stands before it."""
    found = await rows(tx, for_space(LIST_IMAGES_WITHOUT_VECTOR, space_name), space=space)
    return [(row["image"]["id"], Image(row["image"]["reference"], row["image"]["caption"])) for row in found]


async def save_image_vectors(tx: Tx, space: str, space_name: str, vectors: Mapping[str, Samples]) -> None:
    """Image id → its embedding; images gone meanwhile stay gone."""
    name = for_space("embedding__<space>", space_name)
    given = [{"id": id, "properties": {name: vector.tolist()}} for id, vector in vectors.items()]
    await tx.run(SAVE_IMAGE_VECTORS, space=space, vectors=given)
