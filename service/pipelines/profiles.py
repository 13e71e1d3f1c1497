"""What is known of a person? Read anew for each viewer, from facts that they may read; a read, never something stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.graph.facts import FactFilters, list_facts
from service.graph.paging import MAX_PAGE, Page
from service.graph.people import find_people, find_person
from service.graph.revisions import list_revisions
from service.memory.profiles import profile
from service.memory.statements import people_of, read_out
from service.types.facts import KnownFact
from service.types.profiles import Profile
from service.types.revisions import is_cancelled

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx


@dataclass(frozen=True, slots=True)
class ProfileReadConfig:
    pages: int = 10  # of 100 facts, the newest; a year of somebody's evenings (two telling facts a day)


async def find_profile(
    tx: Tx, scope: ReadScope, person_id: str, config: ProfileReadConfig = ProfileReadConfig()
) -> Profile | None:
    """None when the scope holds no such person. What they said of themselves that the scope does not hold is not in it."""
    person = await find_person(tx, scope, person_id)
    if person is None:
        return None
    facts: list[KnownFact] = []
    page, more = Page(first=MAX_PAGE), True
    for _ in range(config.pages):
        paged = await list_facts(tx, scope, page=page, filters=FactFilters(speakers=(person_id,), telling=True))
        facts += paged.items
        more = paged.has_next
        if not more:
            break
        page = Page(first=MAX_PAGE, after=paged.cursors[-1])
    return profile(person, facts, complete=not more)


def facts_of(profile: Profile) -> list[KnownFact]:
    """Everything that a profile tells."""
    traits = (*profile.background, *profile.preferences)
    return [*(f for t in traits for f in (*t.now, *t.before)), *profile.commitments, *profile.plans]


async def list_cancelled(tx: Tx, scope: ReadScope, facts: Sequence[KnownFact]) -> frozenset[str]:
    """Ids of those whose speaker said since that it is off, as far as the viewer may read that."""
    revisions = await list_revisions(tx, scope, [fact.id for fact in facts])
    return frozenset(id for id, made in revisions.items() if is_cancelled(made))


async def read_out_all(tx: Tx, scope: ReadScope, facts: Sequence[KnownFact]) -> dict[str, str]:
    """Each fact by its id in words, with the names that the viewer may know."""
    people = await find_people(tx, scope, people_of(facts))
    names = {id: person.display_name for id, person in people.items()}
    return {fact.id: read_out(fact, names) for fact in facts}
