"""What does a transcript tell of a turn beside who, when and which words? Images shown, to whom it is said, what it answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Image:
    """An image shown with a turn; at least one of the two is there."""

    reference: str | None
    """Address or name, as the caller gave it. Never opened by ingest."""
    caption: str | None


@dataclass(frozen=True, slots=True)
class Told:
    key: str | None = None
    """The transcript's own id of the segment."""
    answers: str | None = None
    """`key` of the segment that this one answers."""
    said_to: tuple[str, ...] = ()
    """Labels of speakers of the same transcript."""
    images: tuple[Image, ...] = ()

    @property
    def captions(self) -> str | None:
        """One a line, as on Message."""
        return "\n".join(image.caption for image in self.images if image.caption) or None


NOTHING_TOLD = Told()


def with_captions(text: str | None, captions: str | None) -> str | None:
    """What the dense views of a message are made from: "Look at this. [shows: a red boat; two oars]"."""
    if not captions:
        return text
    shows = f"[shows: {'; '.join(captions.splitlines())}]"
    return f"{text} {shows}" if text else shows
