"""Who may see what? The only maker of ReadScope: without one no read function can be called.

A message is visible iff everybody may read it (its Audience is public), or every hearer may (one of the ids of the
hearer's identity set MAY_READ its Audience), or the principal reads all. That is a statement about Audiences, so the
scope holds the ids of the visible ones, and every query gates with `(message)-[:FOR]->(a) WHERE a.id IN $audiences`.
Audiences are immutable and a change of readers moves the message to another one, so a scope made before
such a change hides the message rather than showing it. Make one per request; a long subscription makes a new one
before each result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, InitVar, dataclass
from typing import TYPE_CHECKING, Any

from service.errors import VoicegraphError
from service.graph.driver import rows
from service.types.ids import derived

if TYPE_CHECKING:
    from service.graph.driver import Tx
    from service.types.people import Principal, Viewer

_KEY = object()


class ScopeNotOurs(VoicegraphError):
    code = "scope_not_ours"
    says = "A ReadScope was built outside service.graph.access. Ask read_scope(tx, viewer) for one."
    http_status = 500


@dataclass(frozen=True, slots=True)
class ReadScope:
    """What may be seen by everybody who hears the answer. Made by `read_scope` only."""

    space: str
    hearers: tuple[tuple[str, ...], ...]
    """Identity set of each hearer (person ids, the asked-for one first), the asker's first."""
    asker: tuple[str, ...]
    """Identity set of who asks; empty when nobody in particular does."""
    themselves: tuple[str, ...]
    """Identity set of whom the scope holds without a visible message: who asks. Not who else hears the answer, since
    anybody can name an id or play a voice and would learn whose it is."""
    own: tuple[str, ...]
    """Identity set of the asker, where it is they themselves who ask: by their own token, by their voice without any, or as
    whom the operator's shell names. Empty for who only asks in their name: what is a person's alone is not theirs."""
    public_only: bool
    """Somebody unknown listens, or nobody in particular asks; or there is nothing else that all who listen may read: whether
    somebody named as listening is known at all must not show."""
    reads_all: bool
    audiences: tuple[str, ...]
    """Ids of the visible Audiences; of all of the space when `reads_all`."""
    _: KW_ONLY
    key: InitVar[object]

    def __post_init__(self, key: object) -> None:
        if key is not _KEY:
            raise ScopeNotOurs()

    @property
    def gate(self) -> dict[str, Any]:
        """What a gated query asks of the scope, by the names of its parameters."""
        return {
            "space": self.space,
            "audiences": self.audiences,
            "themselves": self.themselves,
            "reads_all": self.reads_all,
        }


READ_SCOPE = """
CALL () {
  UNWIND range(0, size($hearers) - 1) AS i
  OPTIONAL MATCH (p:Person {space: $space, id: $hearers[i]})
    (()-[m:MERGED_INTO WHERE m.confirmed]-()){0,12}
    (same:Person {space: $space} WHERE coalesce(same.tombstone, false) = false)
  WITH i, collect(DISTINCT same.id) AS ids ORDER BY i
  RETURN collect(ids) AS same
}
WITH same, [i IN range(0, size($hearers) - 1) | [$hearers[i]] + same[i]] AS hearers
OPTIONAL CALL (hearers) {
  MATCH (a:Audience {id: $public_id, space: $space}) WHERE a.public
  RETURN a.id AS id
  UNION
  WITH hearers WHERE NOT $public_only
  MATCH (p:Person {space: $space})-[:MAY_READ]->(a:Audience {space: $space})
  WHERE p.id IN hearers[0] AND coalesce(p.tombstone, false) = false AND coalesce(p.kind, '') <> 'bot'
    AND all(ids IN hearers WHERE EXISTS {
      MATCH (q:Person)-[:MAY_READ]->(a)
      WHERE q.id IN ids AND coalesce(q.tombstone, false) = false AND coalesce(q.kind, '') <> 'bot'
    })
  RETURN a.id AS id
  UNION
  WITH $reads_all AS reads_all WHERE reads_all
  MATCH (a:Audience {space: $space})
  RETURN a.id AS id
}
RETURN same, collect(id) AS audiences
"""


def public_audience(space: str) -> str:
    """Id of the Audience of what everybody in the space may read."""
    return derived("audience", space, "public")


async def read_scope(tx: Tx, viewer: Viewer) -> ReadScope:
    """The scope of `viewer`: the intersection over everybody who hears the answer.

    A hearer is expanded to the persons joined by confirmed merges only: an automatic merge changes who is named as the
    speaker and never what somebody may read. An id that names nobody has no audience, so it narrows to what is public, and
    so does a bot's: what it could read while it was taken for somebody counts no more.
    """
    hearers = tuple(viewer.hearers)
    public_only = viewer.unknown_hearer or not hearers
    reads_all = viewer.reads_all and not hearers and not viewer.unknown_hearer
    (found,) = await rows(
        tx,
        READ_SCOPE,
        space=viewer.space,
        public_id=public_audience(viewer.space),
        hearers=list(hearers),
        public_only=public_only,
        reads_all=reads_all,
    )
    sets = tuple((id, *sorted(set(same) - {id})) for id, same in zip(hearers, found["same"], strict=True))
    identity = dict(zip(hearers, sets, strict=True))
    visible = tuple(found["audiences"])
    nothing_else = len(hearers) > 1 and set(visible) <= {public_audience(viewer.space)}
    asker = identity.get(viewer.asker or "", ())
    return ReadScope(
        viewer.space,
        sets,
        asker,
        identity.get(_self(viewer) or "", ()),
        asker if _is_asker(viewer.principal, asker) else (),
        (public_only or nothing_else) and not reads_all,
        reads_all,
        visible,
        key=_KEY,
    )


def _self(viewer: Viewer) -> str | None:
    """The asker; with a voice that a token is not for, the token's person: whose that voice is, it need not know."""
    principal = viewer.principal
    if principal is None or "read_all" in principal.scopes or viewer.asker in principal.may_act_for:
        return viewer.asker
    return principal.person_id


def _is_asker(principal: Principal | None, asker: Sequence[str]) -> bool:
    """Whether `asker` (an identity set, by confirmed merges) asks, and nobody with leave to ask for them."""
    return principal is None or principal.operator or principal.person_id in asker


LIST_KNOWN_PEOPLE = """
UNWIND $ids AS wanted
MATCH (p:Person {id: wanted, space: $space})
WHERE coalesce(p.tombstone, false) = false
RETURN p.id AS id
"""


async def list_known_people(tx: Tx, space: str, ids: Sequence[str]) -> frozenset[str]:
    """Those of `ids` that name somebody in this space. Only for making a Viewer, before there is anybody to gate for."""
    return frozenset(row["id"] for row in await rows(tx, LIST_KNOWN_PEOPLE, space=space, ids=list(ids)))
