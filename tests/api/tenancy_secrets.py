"""What must not show to whom: every id, made word and name of all spaces, less what the oracle lets one pair of eyes see."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.api.tenancy_oracle import Eyes, Oracle, Place, one, shown, words_of
from tests.api.tenancy_plain import NAMED
from tests.api.tenancy_world import LOGINS, World

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
BARE = re.compile(r"\b[0-9a-f]{12}[1-8][0-9a-f]{19}\b")
"""As the full-text index holds ids."""
CURSOR = re.compile(r'"(?:cursor|startCursor|endCursor)": ?"([^"]+)"')
SAID = re.compile(r"why [a-z]+|[a-z]+-at-zoom|webhook\.invalid|key of [a-z]+")
"""What somebody gave as a reason, whom a platform calls somebody, where a webhook leads, and keys of requests."""


def traces(answer: str) -> set[str]:
    """Everything in an answer that tells of something: ids, made words, names, and what is told to few."""
    text = answer + " ".join(map(_said_by, CURSOR.findall(answer)))
    ids = {*ID.findall(text), *(f"{b[:8]}-{b[8:12]}-{b[12:16]}-{b[16:20]}-{b[20:]}" for b in BARE.findall(text))}
    return {*ids, *words_of(text), *(n for n in NAMED.values() if n in text), *SAID.findall(text)}


def _said_by(cursor: str) -> str:
    return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode(errors="replace")


@dataclass(frozen=True)
class Asker:
    """One who asks: what they send, and what the oracle says that they may see."""

    name: str
    world: World
    token: str | None
    eyes: Eyes
    headers: Mapping[str, str] = field(default_factory=dict)
    account: str | None = None

    @property
    def oracle(self) -> Oracle:
        return Oracle(self.world.plain, self.eyes)


@dataclass(frozen=True)
class Secrets:
    """All that was made, of every space, read past the gate."""

    made: Mapping[str, tuple[World, Sequence[Mapping[str, Any]]]]
    """Name of the space → it and its nodes."""

    @property
    def everything(self) -> set[str]:
        """Every id of a node, every made word, every name and reason there is."""
        ids = {node["id"] for _, nodes in self.made.values() for node in nodes if node["id"]}
        words = {word for world, _ in self.made.values() for word in _all_words(world)}
        return {*ids, *words, *NAMED.values(), *_reasons(LOGINS), *_reasons(("evelyn", "finley")), "webhook.invalid"}

    def outside(self, asker: Asker) -> set[str]:
        """What of it must not show to them."""
        return self.everything - self.inside(asker)

    def inside(self, asker: Asker) -> set[str]:
        """What may."""
        oracle, world, nodes = asker.oracle, asker.world, self.made[asker.world.space][1]
        may = _rules(asker, oracle, nodes)
        ids = {node["id"] for node in nodes if may.get(node["label"], _nobody)(node)}
        names = {called for who, called in NAMED.items() if shown(who) in oracle.people}
        return {*ids, *oracle.words, *names, *_told_of(asker)} - ({world.webhook} if not asker.eyes.operator else set())


Rule = Callable[[Mapping[str, Any]], bool]


def _nobody(node: Mapping[str, Any]) -> bool:
    return False


def _rules(asker: Asker, oracle: Oracle, nodes: Sequence[Mapping[str, Any]]) -> dict[str, Rule]:
    """Whether a node of a label may show; of a label that stands here not, never."""
    world, eyes = asker.world, asker.eyes
    places = {world.message(m.name, i): (m.name, i) for m, i, _ in world.plain.lines()}
    meetings = {world.session(m.name): m.name for m in world.plain.meetings}
    people = {world.person(name): name for name in {who for m in world.plain.meetings for who in _people(m)}}
    tracks: dict[str, set[Place]] = {}
    for meeting, index, line in world.plain.lines():
        tracks.setdefault(world.track(meeting.name, meeting.track(line)), set()).add((meeting.name, index))
    everything = eyes.reads_all and oracle.readable and not eyes.hearers and not eyes.stranger

    def all_made_from(node: Mapping[str, Any]) -> bool:
        return bool(node["messages"]) and oracle.all_of(places[id] for id in node["messages"])

    facts = {node["id"] for node in nodes if node["label"] == "Fact" and all_made_from(node)}

    def granted(node: Mapping[str, Any]) -> bool:
        mine = node["account"] == asker.account or _is_oneself(eyes, [people[id] for id in node["lets"]])
        return bool(everything) or eyes.operator or mine

    def known(id: str) -> bool:
        return bool(everything) or (id in people and people[id] in oracle.people)

    return {
        "Message": lambda n: places[n["id"]] in oracle.readable,
        "Session": lambda n: meetings[n["id"]] in oracle.meetings,
        "Person": lambda n: known(n["id"]),
        "LocalSpeaker": lambda n: bool(everything) or bool(tracks.get(n["id"], set()) & oracle.readable),
        "Fact": lambda n: n["id"] in facts,
        "Entity": lambda n: oracle.any_of(places[id] for id in n["messages"]) or bool(set(n["facts"]) & facts),
        "Image": lambda n: oracle.any_of(places[id] for id in n["beside"]),
        "AudioMemory": lambda n: oracle.any_of(places[id] for id in n["beside"]),
        "NameProposal": lambda n: all_made_from(n),
        "PersonaNode": lambda n: _is_oneself(eyes, [people[id] for id in n["of"]]),
        "Job": lambda n: eyes.operator or (asker.account is not None and n["account"] == asker.account),
        "Correction": lambda n: bool(everything) or (asker.account is not None and n["actor"] == asker.account),
        "Account": lambda n: bool(everything) or (n["bound_to"] is not None and _is_oneself(eyes, [people[n["bound_to"]]])),
        "Webhook": lambda n: eyes.operator,
        "WebhookDelivery": lambda n: eyes.operator,
        "Event": lambda n: eyes.operator,
        "Consent": lambda n: eyes.operator or _is_oneself(eyes, [people[p] for p in n["given_by"]]),
        "Receipt": lambda n: eyes.operator,
        "Grant": granted,
    }


def _is_oneself(eyes: Eyes, who: Iterable[str]) -> bool:
    """Theirs alone: nobody else asks in their name, and nobody else hears it."""
    mine = one(eyes.oneself) if eyes.oneself else frozenset()
    heard = {other for hearer in eyes.hearers for other in one(hearer)}
    return not eyes.stranger and any(name in mine for name in who) and heard <= mine


def _told_of(asker: Asker) -> set[str]:
    """Reasons, logins and keys: one's own, or all of them for who reads all."""
    eyes = asker.eyes
    if eyes.reads_all and eyes.reads and not eyes.hearers and not eyes.stranger:
        return {*_reasons((*LOGINS, "evelyn", "finley")), "webhook.invalid"}
    own = {name for name in LOGINS if asker.world.account(name) == asker.account}
    told = {f"key of {name}" for name in (LOGINS if eyes.operator else own)}
    told |= {f"{name}-at-zoom" for name in LOGINS if _is_oneself(eyes, [name])}
    if "ana" in own:
        told |= {"why evelyn", "why finley"}
    return {*told, "webhook.invalid"} if eyes.operator else told


def _reasons(names: Iterable[str]) -> set[str]:
    return {f"{kind}{name}{at}" for name in names for kind, at in (("why ", ""), ("", "-at-zoom"), ("key of ", ""))}


def _people(meeting: Any) -> set[str]:
    return {*(line.by for line in meeting.lines if line.by), *meeting.there, *meeting.to_all}


def _all_words(world: World) -> set[str]:
    return words_of(" ".join(f"{m.title} {line.text} {line.shows or ''}" for m, _, line in world.plain.lines()))
