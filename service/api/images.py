"""Which images show this, and with what were they shown? GraphQL types and the read of the search for images."""

from __future__ import annotations

import asyncio
from typing import Annotated, TypeAlias

import strawberry

from service.api.context import Info, local_id
from service.api.loaders import Reading
from service.api.memory import ImageType, MessageType
from service.api.outcomes import InvalidInput, NotAllowed, NotFound, VoiceNotAccepted, expected
from service.api.search import Asker, Explain, FiltersInput, Narrowed
from service.pipelines.images import Images, LookedFor
from service.types.images import ImageHit, ImagesFound

Words = Annotated[str | None, strawberry.argument(description="What they show, in anybody's words.")]
LikeImage = Annotated[strawberry.ID | None, strawberry.argument(description="An image known here: others like it.")]
LikeUpload = Annotated[
    strawberry.ID | None,
    strawberry.argument(description="Upload of a picture: images like it. Needs an image model; captions do not know it."),
]
HowMany = Annotated[int, strawberry.argument(description="How many images, 50 at most.")]


@strawberry.type(name="ImageHit", description="An image that was found.")
class ImageHitType:
    image: ImageType = strawberry.field(description="The image.")
    message: MessageType = strawberry.field(description="What it was shown with.")
    score: float = strawberry.field(description="Cosine of what was looked for and the image, or its caption; in [-1, 1].")
    visible_because: str = strawberry.field(
        description="Why the asker may see it: said_it, addressed, attended, shared, public or reads_all."
    )

    @classmethod
    def from_record(cls, hit: ImageHit, reading: Reading) -> ImageHitType:
        return cls(
            image=ImageType.from_record(hit.found.id, hit.found.image),
            message=MessageType.from_record(hit.message, reading),
            score=hit.found.score,
            visible_because=hit.visible_because,
        )


@strawberry.type(name="ImageSearchExplanation", description="How images were looked for.")
class ImageSearchExplanationType:
    visible: int = strawberry.field(description="How many images the asker may see at all, of those that can be looked for.")
    model: str = strawberry.field(
        description="Embedding space in which they were compared: a text embedder's where captions stand for images."
    )


@strawberry.type(name="ImageSearchResult", description="Images that fit, the best first.")
class ImageSearchResultType:
    hits: list[ImageHitType] = strawberry.field(description="At most `first`.")
    explanation: ImageSearchExplanationType | None = strawberry.field(description="Only with `explain`.")

    @classmethod
    def from_record(cls, found: ImagesFound, reading: Reading, explain: bool) -> ImageSearchResultType:
        return cls(
            hits=[ImageHitType.from_record(hit, reading) for hit in found.hits],
            explanation=ImageSearchExplanationType(visible=found.visible, model=found.model) if explain else None,
        )


ImageSearchOutcome: TypeAlias = Annotated[
    ImageSearchResultType | NotFound | NotAllowed | VoiceNotAccepted | InvalidInput,
    strawberry.union("ImageSearchOutcome", description="What was found, or why nothing was looked for."),
]


async def image_search(
    info: Info, text: Words = None, image: LikeImage = None, upload_id: LikeUpload = None, filters: Narrowed = None,
    first: HowMany = 10, asker: Asker = None, explain: Explain = False,
) -> ImageSearchOutcome:  # fmt: skip
    async def find() -> ImageSearchResultType:
        narrowed = (filters or FiltersInput()).filters()
        path = info.context.upload(upload_id) if upload_id else None
        reading = await info.context.reading(asker.asked() if asker else None)
        images: Images = await info.context.services.images()
        picture = await asyncio.to_thread(images.content, path) if path else None
        by = LookedFor(text, local_id(image, "Image") if image else None, picture)
        found = await images(reading.scope, by, narrowed, first=first)
        return ImageSearchResultType.from_record(found, reading, explain)

    outcome: ImageSearchOutcome = await expected(find())
    return outcome
