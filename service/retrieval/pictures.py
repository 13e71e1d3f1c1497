"""Does a question ask for something that was shown?"""

from __future__ import annotations

import re

_SHOWN = re.compile(
    r"\b(?:photo(?:graph)?s?|pictures?|images?|pics?|selfies?|snapshots?|screenshots?|drawings?|sketch(?:es)?"
    r"|look(?:s|ed)?\s+like|fotos?|bild(?:er)?|imagen(?:es)?|imágenes|dessins?)\b",
    re.IGNORECASE,
)
"""English, and what German, Spanish, French call a picture."""


def asks_for_images(question: str) -> bool:
    """Whether images are worth looking at besides what was said; what they show in words is searched with it in any case."""
    return _SHOWN.search(question) is not None
