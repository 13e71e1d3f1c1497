"""What are the people of a session called? Claims found in its words and labels, judged with those of other sessions, and
applied where they are sure enough; and what a human decides about a proposed name."""

from __future__ import annotations

from dataclasses import dataclass

from service.errors import VoicegraphError
from service.graph.driver import Graph
from service.memory.names import DEFAULT, NameConfig


class NobodyToName(VoicegraphError):
    code = "nobody_to_name"
    says = (
        "Name proposal {proposal_id} is about a voice of session {session_id} that is nobody's yet. "
        "Give its turns to a person first (`voicegraph people reassign`), then name that person."
    )
    http_status = 409


@dataclass(frozen=True, slots=True)
class NamedSession:
    """What naming a session came to."""

    session_id: str
    proposals: tuple[str, ...]
    """Ids of all NameProposals that this session speaks for."""
    named: tuple[str, ...]
    """Ids of the people whose shown name changed."""
    contradicted: tuple[str, ...]
    """Ids of the LocalSpeakers whose platform label the voice or the words speak against."""


@dataclass(frozen=True, slots=True)
class NameVerdict:
    """What a human decided about a proposal."""

    proposal_id: str
    person_id: str
    name: str
    status: str
    """applied | rejected"""
    shown: str | None
    """The person's name after it."""


async def name_session(graph: Graph, space: str, session_id: str, config: NameConfig = DEFAULT) -> NamedSession:
    """Make the session's name proposals anew and apply what is sure.

    A pure function of what the graph holds: run again (after a kill, a correction, a merge) it changes only what changed.
    Never touches a name that a human gave. Raises NotFound."""
    raise NotImplementedError


async def apply_name(graph: Graph, *, space: str, proposal_id: str, actor: str) -> NameVerdict:
    """The proposal's person is called so from now on, whatever else is claimed; `actor` is the account's or person's id.

    A name that a human gave before stays as an alias. Done twice it is done once. Raises NotFound, NobodyToName."""
    raise NotImplementedError


async def reject_name(graph: Graph, *, space: str, proposal_id: str, actor: str) -> NameVerdict:
    """The name is not this person's: never applied again by itself, and taken back where it is shown because of it.

    For a voice that is nobody's yet `person_id` is the LocalSpeaker's id. Raises NotFound."""
    raise NotImplementedError
