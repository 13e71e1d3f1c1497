"""Which theme does an entity belong to? Exactly one, by its name and type alone: the same whoever spoke of it, in whatever
order, and so it tells a viewer nothing of what they may not read."""

from __future__ import annotations

from service.memory.left_brain.nouns import OTHER, THEMES
from service.types.entities import EntityType

_BY_TYPE = {
    EntityType.PERSON: "people",
    EntityType.PLACE: "places",
    EntityType.ORGANISATION: "organisations",
    EntityType.EVENT: "events",
}
_THEME_OF = {word: theme for theme, listed in reversed(THEMES.items()) for word in listed}


def theme_of(type: EntityType, name: str) -> str:
    """That of the last of its words that speaks of one; else that of its type; else `other`.

    People are `people`, whatever they are called: Rose is no flower."""
    if type is EntityType.PERSON:
        return _BY_TYPE[type]
    for word in reversed(name.split()):
        if (theme := _THEME_OF.get(word)) is not None:
            return theme
    return _BY_TYPE.get(type, OTHER)
