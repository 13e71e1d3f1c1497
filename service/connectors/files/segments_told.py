"""What does a JSON segment tell beside its words? Its id, what it answers, to whom it is said, which images are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from service.connectors.files.source import TranscriptUnreadable, clean, described, speaker_label
from service.types.told import Image, Told

MAX_IMAGES = 20
"""Of one segment: an album sent at once; each is a node of its own."""
MAX_REFERENCE = 2_000
"""Characters: what browsers take as an address."""
MAX_CAPTION = 2_000
"""Characters: a page of description; longer ones would drown the words in the full-text index."""

Refuse = Callable[[str], TranscriptUnreadable]


def told_of(item: Mapping[str, Any], refuse: Refuse) -> Told:
    """Of `{id, reply_to, addressed_to, images}`, each of them optional. Raises what `refuse` makes of a complaint."""
    return Told(
        key=_key(item.get("id")),
        answers=_answers(item.get("reply_to"), refuse),
        said_to=_labels(item.get("addressed_to"), refuse),
        images=_images(item.get("images"), refuse),
    )


def _key(value: Any) -> str | None:
    """Programs write all sorts of things under "id"; what is neither text nor a whole number names nothing."""
    return (clean(str(value)) or None) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _answers(value: Any, refuse: Refuse) -> str | None:
    if value is not None and _key(value) is None:
        raise refuse(f"reply_to is {described(value)}; needed: the id of a segment.")
    return _key(value)


def _labels(value: Any, refuse: Refuse) -> tuple[str, ...]:
    labels = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise refuse("addressed_to is not a list of strings.")
    return tuple(dict.fromkeys(known for label in labels if (known := speaker_label(label))))


def _images(value: Any, refuse: Refuse) -> tuple[Image, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(image, Mapping) for image in value):
        raise refuse("images are not a list of objects.")
    if len(value) > MAX_IMAGES:
        raise refuse(f"{len(value)} images; the most is {MAX_IMAGES}.")
    return tuple(image for given in value if (image := _image(given, refuse)) is not None)


def _image(given: Mapping[str, Any], refuse: Refuse) -> Image | None:
    """None where it says nothing at all."""
    reference = _text(given.get("reference", given.get("url")), "reference", MAX_REFERENCE, refuse)
    caption = _text(given.get("caption"), "caption", MAX_CAPTION, refuse)
    if reference is not None and reference.lower().startswith("data:"):
        raise refuse("an image is in the file itself; needed: an address or a name as its reference.")
    return Image(reference, caption) if reference or caption else None


def _text(value: Any, name: str, most: int, refuse: Refuse) -> str | None:
    if not isinstance(value, str | None):
        raise refuse(f"the {name} of an image is {type(value).__name__}; needed: a string.")
    text = clean(value or "")
    if len(text) > most:
        raise refuse(f"the {name} of an image has {len(text)} characters; the most is {most}.")
    return text or None
