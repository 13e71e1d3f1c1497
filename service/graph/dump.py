"""What does a space hold, in a form that two databases or two runs can be compared by? For audits and tests: no gate."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np

from service.graph.driver import Tx, rows

Dump = dict[str, list[dict[str, Any]]]
"""{"nodes": …, "edges": …}, sorted, JSON-ready."""

CREATED = frozenset({"created_at", "heartbeat_at"})
"""When something was written, which no two runs share: left out."""

DEADLINES = frozenset({"expires_at"})
"""Counted from when it was written: only whether there is one."""

HISTORY = frozenset(
    {
        "AuditEvent",
        "Correction",
        "Delivery",
        "Erasure",
        "Event",
        "Job",
        "Meeting",
        "MeetingWork",
        "Receipt",
        "Webhook",
        "WebhookDelivery",
    }
)
"""Labels of what tells how things became as they are."""

COUNTERS = {
    "Space": frozenset({"identity_revision", "forgotten_revision"}),
    "Person": frozenset({"revision"}),
    "Channel": frozenset({"version"}),
}
"""Label → properties that only count changes."""

VECTOR_DIGITS = 4
"""Decimals of a vector's numbers that count: two runs of one model agree far closer, two models not at all."""

LIST_NODES = """
MATCH (n)
WHERE n.space = $space OR (n:Space AND n.id = $space)
RETURN labels(n) AS labels, properties(n) AS properties
"""

LIST_EDGES = """
MATCH (a)-[r]->(b)
WHERE a.space = $space
RETURN type(r) AS type, labels(a) + a.id AS start, labels(b) + b.id AS end, properties(r) AS properties
"""


async def dump_space(tx: Tx, space: str) -> Dump:
    """All nodes and edges of `space` with their properties; equal for equal content, whenever and wherever written."""
    nodes = [
        {"labels": sorted(row["labels"]), **_canonical(row["properties"])} for row in await rows(tx, LIST_NODES, space=space)
    ]
    edges = [
        {"type": row["type"], "from": row["start"], "to": row["end"], **_canonical(row["properties"])}
        for row in await rows(tx, LIST_EDGES, space=space)
    ]
    return {
        "nodes": sorted(nodes, key=lambda n: (n["labels"], str(n.get("id")))),
        "edges": sorted(edges, key=lambda e: (e["type"], e["from"], e["to"])),
    }


def without_history(dump: Dump) -> Dump:
    """What holds now, however it came about: equal for a space in which something was done and undone, and one in which it
    never happened."""
    nodes = [
        {name: value for name, value in node.items() if not any(name in COUNTERS.get(label, ()) for label in node["labels"])}
        for node in dump["nodes"]
        if HISTORY.isdisjoint(node["labels"])
    ]
    edges = [edge for edge in dump["edges"] if HISTORY.isdisjoint((*edge["from"], *edge["to"]))]
    return {"nodes": nodes, "edges": edges}


def _canonical(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value is not None if name in DEADLINES else _plain(value)
        for name, value in sorted(properties.items())
        if name not in CREATED
    }


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat()
        case float():
            return round(value, 9)
        case [float(), *_] if len(value) >= 32:
            rounded = np.round(np.asarray(value, dtype=np.float64), VECTOR_DIGITS) + 0.0  # -0.0 and 0.0 are one number
            return f"{len(value)} numbers, sha256 {hashlib.sha256(rounded.tobytes()).hexdigest()[:16]}"
        case list():
            return [_plain(item) for item in value]
        case _:
            return value
