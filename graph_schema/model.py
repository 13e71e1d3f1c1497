"""How is a graph declared? Labels, edges and indexes as frozen records; `schema.py` fills them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Property:
    name: str
    type: str
    """string | integer | float | boolean | datetime | list<string> | list<float>"""
    meaning: str
    unit: str = ""
    """Unit or range, e.g. "seconds", "[-1, 1]"."""


@dataclass(frozen=True, slots=True)
class Node:
    label: str
    meaning: str
    properties: tuple[Property, ...]
    unique: tuple[tuple[str, ...], ...] = ()
    """Uniqueness constraints besides (id): each a tuple of property names. Every MERGE key must be one."""
    ranges: tuple[tuple[str, ...], ...] = ()
    """Range indexes."""

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        return (("id",), *self.unique)


@dataclass(frozen=True, slots=True)
class Edge:
    type: str
    start: tuple[str, ...]
    """Labels it may leave from."""
    end: tuple[str, ...]
    meaning: str
    properties: tuple[Property, ...] = ()


@dataclass(frozen=True, slots=True)
class VectorIndex:
    name: str
    label: str
    property: str
    dimension: int
    filters: tuple[str, ...]
    """Properties usable in the WHERE of SEARCH."""
    quantization: bool
    """Off for voices: recall@1 1.000 instead of 0.987 at a beam of 100."""


@dataclass(frozen=True, slots=True)
class FullTextIndex:
    name: str
    label: str
    properties: tuple[str, ...]
    analyzer: str
