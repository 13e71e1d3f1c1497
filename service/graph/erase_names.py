"""What is somebody called who is erased, who else is called so, and is it a word where others write?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from service.errors import NotFound
from service.graph.driver import Tx, rows
from service.graph.spaces import lock_space
from service.types.erasure import Erasure

FOREIGN = r"(?s)[\x00-\x5B\x5D-\x7F]*+(?:[^\x00-\x7F]|\\).*"
"""Strings that may hold a name in other letters than it is looked for in: full-width, accents apart, ß for ss, escaped."""

LIST_NAMES_OF_PEOPLE = """
MATCH (p:Person {space: $space}) WHERE p.id IN $people AND coalesce(p.tombstone, false) = false
RETURN p.id AS id, coalesce(p.aliases, []) + coalesce(p.display_name, []) AS names,
       COLLECT { MATCH (a:Account)-[:IS]->(p) RETURN {id: a.id, name: a.name, subject: a.subject} } AS accounts,
       COLLECT { MATCH (p)<-[:ABOUT]-(n:NameProposal) WHERE n.status = 'applied' RETURN n.name } AS proposed
"""

LIST_BEARERS = """
MATCH (p:Person {space: $space}) WHERE NOT p.id IN $people AND coalesce(p.tombstone, false) = false
UNWIND coalesce(p.aliases, []) + coalesce(p.display_name, []) AS name
WITH name WHERE any(part IN $parts WHERE toLower(name) CONTAINS part) OR name =~ $foreign
RETURN DISTINCT name
"""

LIST_THINGS_NAMED = """
UNWIND $names AS name
MATCH (e:Entity {space: $space, normal_name: name}) WHERE e.type IN ['place', 'organisation', 'thing', 'event']
RETURN DISTINCT name
"""

LIST_TEXTS_WITH = """
CALL db.index.fulltext.queryNodes('message_text', $query) YIELD node
WITH node WHERE node.space = $space AND node.text IS NOT NULL AND NOT coalesce(node.speaker_id IN $people, false)
RETURN node.text AS text LIMIT $limit
"""


LIST_TEXTS_THERE = """
UNWIND $sessions AS session
MATCH (m:Message {session_id: session})
WHERE m.index IS NOT NULL AND m.space = $space AND m.erased_at IS NULL AND NOT coalesce(m.speaker_id IN $people, false)
  AND (any(part IN $parts WHERE toLower(m.text) CONTAINS part) OR m.text =~ $foreign)
RETURN m.session_id AS session, m.text AS text
"""

LIST_TEXTS_ELSEWHERE = """
CALL db.index.fulltext.queryNodes('message_text', $query) YIELD node
WITH node WHERE node.space = $space AND node.text IS NOT NULL AND NOT node.session_id IN $sessions
RETURN node.session_id AS session, node.text AS text
"""

NOTE_NAMES = """
UNWIND $noted AS row
MATCH (s:Session {space: $space, id: row.session})
SET s.erased_names = [name IN coalesce(s.erased_names, []) WHERE NOT name IN row.names] + row.names
"""

LIST_NOTED_NAMES = """
MATCH (s:Session {space: $space, id: $session_id})
RETURN coalesce(s.erased_names, []) AS names
"""


@dataclass(frozen=True, slots=True)
class Known:
    """Of whom is erased: all their ids, and what they are called."""

    people: tuple[str, ...]
    names: tuple[str, ...]
    typed: tuple[str, ...]
    """What platforms show of their logins: anybody may type anything there."""
    accounts: tuple[str, ...]


async def known_as(tx: Tx, space: str, people: Collection[str]) -> Known:
    """Raises NotFound where nobody of them is there any more."""
    found = await rows(tx, LIST_NAMES_OF_PEOPLE, space=space, people=sorted(people))
    if not found:
        raise NotFound(kind="person", id=min(people))
    names = [name for row in found for name in (*row["names"], *row["proposed"])]
    accounts = [account for row in found for account in row["accounts"]]
    names += [account["subject"] for account in accounts if "@" in (account["subject"] or "")]  # no number of a platform's
    typed = {account["name"] for account in accounts if account["name"]}
    ids = sorted(row["id"] for row in found)
    logins = tuple(sorted(account["id"] for account in accounts))
    return Known(tuple(ids), tuple(sorted(set(names))), tuple(sorted(typed)), logins)


async def list_bearers(tx: Tx, space: str, people: Collection[str], names: Collection[str]) -> list[str]:
    """Names of others that may have a part in common with `names` (folded)."""
    parts = sorted({part for name in names for part in name.split()})
    found = await rows(tx, LIST_BEARERS, space=space, people=sorted(people), parts=parts, foreign=FOREIGN)
    return [row["name"] for row in found]


async def list_things_named(tx: Tx, space: str, names: Collection[str]) -> frozenset[str]:
    """Those of `names` (folded) that a place, an organisation, a thing or an event has."""
    return frozenset(row["name"] for row in await rows(tx, LIST_THINGS_NAMED, space=space, names=sorted(names)))


async def list_texts_with(tx: Tx, space: str, name: str, people: Collection[str], limit: int) -> list[str]:
    """Some of the messages with these words that none of `people` said; no gate, for who erases: whether others use them."""
    if set(name) & set('"\\'):
        return []
    found = await rows(tx, LIST_TEXTS_WITH, query=f'text:("{name}")', space=space, people=sorted(people), limit=limit)
    return [row["text"] for row in found]


async def list_texts_naming(tx: Tx, erasure: Erasure) -> dict[str, list[str]]:
    """Session → what others said there that may have one of the names: of theirs alone wherever it is, of words where they
    were. No gate, for who erases."""
    parts = name_parts((*erasure.names, *erasure.words))
    asked: dict[str, Any] = {"space": erasure.space, "sessions": list(erasure.sessions)}
    found: dict[str, list[str]] = {}
    if parts:
        there = {**asked, "people": list(erasure.people), "parts": parts, "foreign": FOREIGN}
        for row in await rows(tx, LIST_TEXTS_THERE, **there):
            found.setdefault(row["session"], []).append(row["text"])
    names = [f'"{name}"' for name in erasure.names if not set(name) & set('"\\')]
    if names:
        for row in await rows(tx, LIST_TEXTS_ELSEWHERE, **asked, query=f"text:({' '.join(names)})"):
            found.setdefault(row["session"], []).append(row["text"])
    return found


async def note_names(tx: Tx, space: str, noted: Mapping[str, Collection[str]]) -> None:
    """Session → what it is to keep of names (service/memory/erased_names.py: note): it keeps what it has, too."""
    await lock_space(tx, space)
    await tx.run(NOTE_NAMES, space=space, noted=[{"session": id, "names": sorted(names)} for id, names in noted.items()])


async def list_noted_names(tx: Tx, space: str, session_id: str) -> frozenset[str]:
    """What a session keeps of names whose people are erased; for who reads names and facts out of what is said in it."""
    found = await rows(tx, LIST_NOTED_NAMES, space=space, session_id=session_id)
    return frozenset(found[0]["names"]) if found else frozenset()


def name_parts(names: Collection[str]) -> list[str]:
    """Of each of `names` (folded) the longest word: a string of ASCII letters that has the name has this, lower-cased. Others
    are told by FOREIGN."""
    return sorted({max(name.split(), key=len) for name in names})
