"""How is the graph shown to people? SCHEMA.md, written from the declaration: `python -m graph_schema.render`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from graph_schema.model import Edge, Node, Property
from graph_schema.schema import EDGES, FULL_TEXT_INDEXES, NODES, VECTOR_INDEXES
from graph_schema.stores import STORES

FILE = Path(__file__).with_name("SCHEMA.md")

_HEAD = """# What is in the graph

Made by `python -m graph_schema.render` from `graph_schema/schema.py` and `graph_schema/stores.py`; do not edit. A change starts
there, then a migration in `migrations/`, then the query.

`key` = unique, and what a MERGE may use. `range` = indexed for comparison and order. All times are UTC.
"""


def render() -> str:
    """The whole of SCHEMA.md."""
    parts = [_HEAD, _picture(), "## Labels\n", *map(_node, NODES), "## Edges\n", *map(_edge, EDGES), _indexes(), _stores()]
    return "\n".join(parts)


def _picture() -> str:
    """The edges that carry the straight line, as a Mermaid graph."""
    arrows = [f"  {start} -->|{edge.type}| {end}" for edge in EDGES for start in edge.start for end in edge.end]
    return "\n".join(["```mermaid", "graph LR", *arrows, "```", ""])


def _node(node: Node) -> str:
    marks = [f"key ({', '.join(key)})" for key in node.keys] + [f"range ({', '.join(names)})" for names in node.ranges]
    return "\n".join(
        [f"### {node.label}\n", f"{_sentence(node.meaning)} {'; '.join(marks)}.\n", *_properties(node.properties), ""]
    )


def _edge(edge: Edge) -> str:
    ends = f"({' or '.join(edge.start)})-[:{edge.type}]->({' or '.join(edge.end)})"
    return "\n".join([f"### {edge.type}\n", f"`{ends}`: {edge.meaning}.\n", *_properties(edge.properties), ""])


def _properties(properties: Sequence[Property]) -> list[str]:
    rows = [(f"`{p.name}`", p.type, p.meaning, p.unit) for p in properties]
    return _table(("property", "type", "meaning", "unit"), rows) if rows else []


def _indexes() -> str:
    vectors = [
        (f"`{v.name}`", f"{v.label}.{v.property}", str(v.dimension), ", ".join(v.filters), "on" if v.quantization else "off")
        for v in VECTOR_INDEXES
    ]
    texts = [(f"`{t.name}`", f"{t.label}: {', '.join(t.properties)}", t.analyzer) for t in FULL_TEXT_INDEXES]
    return "\n".join(
        [
            "## Vector indexes\n",
            "Cosine; the index answers with (1 + cosine) / 2.\n",
            *_table(("index", "over", "dimension", "filters", "quantization"), vectors),
            "\n## Full-text indexes\n",
            *_table(("index", "over", "analyzer"), texts),
            "",
        ]
    )


def _stores() -> str:
    rows = [(s.name, s.where, s.holds, s.erased_by, "yes" if s.built else "not built yet") for s in STORES]
    return "\n".join(
        [
            "## Where personal data lives\n",
            "Erasure and audit walk this list (`graph_schema/stores.py`).\n",
            *_table(("store", "where", "holds", "erased by", "there"), rows),
            "",
        ]
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


if __name__ == "__main__":
    FILE.write_text(render(), encoding="utf-8")
