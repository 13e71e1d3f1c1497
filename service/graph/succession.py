"""How does a new revision of a session come to stand where the one before stood? It is written beside it, read by nobody, and
takes its place in the transaction that hides that one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from service.errors import NotFound, VoicegraphError
from service.graph.driver import Tx, rows
from service.types.ids import derived


class PartlyErased(VoicegraphError):
    code = "partly_erased"
    says = (
        "Of session {session_id} something was erased: processed again, its recording would bring that back. What is left of "
        "it stays as it is."
    )
    http_status = 409


@dataclass(frozen=True, slots=True)
class Successor:
    """What takes the place of a session, and what it was made of."""

    session_id: str
    external_id: str
    transcript: str | None

    @property
    def sources(self) -> frozenset[str]:
        """Hashes of what it was made of."""
        return frozenset(given for given in (self.external_id, self.transcript) if given)


LIST_BEGUN = """
MATCH (s:Session {space: $space}) WHERE s.replaces IN $sessions AND s.status IN $status
  AND (NOT $there OR EXISTS { (:Session {space: $space, id: s.replaces}) })
RETURN s.id AS id ORDER BY id
"""

HAS_ERASED = """
MATCH (s:Session {space: $space, id: $session_id})
RETURN size(coalesce(s.erased_facts, [])) + size(coalesce(s.erased_names, [])) > 0
    OR EXISTS { (s)<-[:IN_SESSION]-(m:Message) WHERE m.erased_at IS NOT NULL }
    OR EXISTS { (s)<-[:IN_SESSION]-(:Message)<-[:SPEAKS]-(p:Person) WHERE p.tombstone }
    OR EXISTS { MATCH (e:Erasure {space: $space}) WHERE $session_id IN e.sessions } AS erased
"""

INHERIT = """
MATCH (s:Session {space: $space, id: $session_id}) WHERE s.replaces = $replaces
MATCH (before:Session {space: $space, id: $replaces})
SET s.kept_since = coalesce(before.kept_since, before.created_at)
RETURN s.id AS id
"""

TAKE_PLACE = """
MATCH (s:Session {space: $space, id: $session_id}) WHERE s.replaces = $replaces
SET s.external_id = $external_id
RETURN s.id AS id
"""

FORGET_CLAIMS = """
MATCH (m:Message {session_id: $session_id}) WHERE m.index IS NOT NULL AND m.space = $space
MATCH (m)<-[said:EVIDENCED_BY]-(:NameProposal)
DELETE said
"""


def revised_id(session_id: str, revision: int, content_hash: str) -> str:
    """Of the session that is the `revision` of one whose first id is, or was, `session_id`: content that comes back later is
    another session."""
    return derived("session", session_id, str(revision), content_hash)


async def list_begun(tx: Tx, space: str, sessions: Collection[str], *, failed: bool = True, there: bool = False) -> list[str]:
    """Ids of the revisions that were begun to replace one of `sessions` (ids) and are not through; those that failed, too, if
    `failed`; if `there`, without those that took its place."""
    status = ["open", "failed"] if failed else ["open"]
    found = await rows(tx, LIST_BEGUN, space=space, sessions=sorted(sessions), status=status, there=there)
    return [row["id"] for row in found]


async def refuse_partly_erased(tx: Tx, space: str, session_id: str) -> None:
    """Raises PartlyErased where a turn, a fact or a name of the session was erased, or is hidden and about to be."""
    found = await rows(tx, HAS_ERASED, space=space, session_id=session_id)
    if found and found[0]["erased"]:
        raise PartlyErased(session_id=session_id)


async def inherit(tx: Tx, space: str, session_id: str, by: Successor) -> None:
    """Before the session `session_id` is hidden: `by` is kept as long as that one would have been. Raises NotFound where `by`
    does not replace it, and PartlyErased where something of it was erased since `by` was begun.

    The caller holds the lock of the space."""
    if not await rows(tx, INHERIT, space=space, session_id=by.session_id, replaces=session_id):
        raise NotFound(kind="session", id=by.session_id)
    await refuse_partly_erased(tx, space, session_id)


async def take_place(tx: Tx, space: str, session_id: str, by: Successor) -> None:
    """The recording is that of `by` from now on, and nothing speaks for a name any more that was said in the session
    `session_id`, which is gone: what is said in `by` is judged without it. Raises NotFound where `by` does not replace it.

    The caller holds the lock of the space."""
    asked: dict[str, Any] = {"space": space, "session_id": by.session_id, "external_id": by.external_id}
    if not await rows(tx, TAKE_PLACE, **asked, replaces=session_id):
        raise NotFound(kind="session", id=by.session_id)
    await tx.run(FORGET_CLAIMS, space=space, session_id=session_id)
