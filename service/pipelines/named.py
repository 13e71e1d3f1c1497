"""Which people does a text name, as far as the scope knows them?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.graph.people import list_named_people
from service.retrieval.lucene import escaped

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx


async def people_named_in(tx: Tx, scope: ReadScope, text: str) -> dict[str, tuple[str, ...]]:
    """As `list_named_people`, of any text; nobody where it has no words."""
    words = escaped(text)
    return await list_named_people(tx, scope, words) if words else {}
