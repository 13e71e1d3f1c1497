"""What is a speaker called who has an id and perhaps a name? Two of one name stay two, and one without a name stays one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

Speaker = tuple[str | None, str | None]
"""id and name, as the source has them; names that say that nobody knows are None already"""


def labels(speakers: Iterable[Speaker], kind: str = "Participant") -> Mapping[Speaker, str | None]:
    """A label for each: the name; with the id where several ids have that name; the id alone where there is no name (but where
    the same id has a name elsewhere in the file, that one); None for nobody."""
    pairs = list(dict.fromkeys(speakers))
    ids: defaultdict[str, set[str]] = defaultdict(set)
    names: dict[str, str] = {}
    for id, name in pairs:
        if name is not None:
            ids[name].add(id or "")
            if id is not None:
                names.setdefault(id, name)
    found: dict[Speaker, str | None] = {}
    for id, name in pairs:
        called = names.get(id, name) if id is not None else name
        if called is None:
            found[id, name] = None if id is None else f"{kind} {id}"
        else:
            found[id, name] = f"{called} ({kind} {id})" if id is not None and len(ids[called]) > 1 else called
    return found
