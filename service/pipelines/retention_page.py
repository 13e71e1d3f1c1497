"""What does the schedule look like to whom it is of? A page of its own, without scripts or anything from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from service.pipelines.retention import Kept


def as_page(space: str, kept: Sequence[Kept]) -> str:
    """A whole document, HTML."""
    rows = "".join(
        f"<tr><th scope=row>{escape(one.store)}</th><td>{escape(one.holds)}</td><td>{escape(one.until)}</td>"
        f"<td>{escape(one.erased)}</td></tr>\n"
        for one in kept
    )
    title = f"How long {escape(space)} keeps what"
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title>\n<h1>{title}</h1>\n<table border="1">\n'
        f"<tr><th>where<th>what<th>how long<th>how it goes besides</tr>\n{rows}</table>\n</html>\n"
    )
