"""What do a person's own words tell of them? Facts that they said, grouped by what each is about: the newest holds, the others
are its history. What others said of them is no part of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from service.types.facts import FactKind, KnownFact
from service.types.people import Person
from service.types.profiles import Profile, Trait


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    max_each: int = 50  # traits, commitments or plans, the newest: as much as a page shows


def profile(
    person: Person, facts: Sequence[KnownFact], *, complete: bool = True, config: ProfileConfig = ProfileConfig()
) -> Profile:
    """`facts`: said by `person`, in any order. `complete`: there are no others."""
    newest = sorted(facts, key=lambda fact: (-fact.said_at.timestamp(), fact.id))
    of = {kind: [fact for fact in newest if fact.kind is kind] for kind in FactKind}
    states = [fact for fact in of[FactKind.STATEMENT] if fact.attribute is not None]
    return Profile(
        person=person,
        background=traits(states)[: config.max_each],
        preferences=traits(of[FactKind.PREFERENCE])[: config.max_each],
        commitments=tuple(of[FactKind.COMMITMENT][: config.max_each]),
        plans=tuple(of[FactKind.PLAN][: config.max_each]),
        complete=complete,
    )


def traits(newest: Sequence[KnownFact]) -> tuple[Trait, ...]:
    """One for each attribute, in the order of what was said of it last. A fact without an attribute supersedes nothing: it is
    one with those in the same words."""
    about: dict[tuple[str, str], list[KnownFact]] = defaultdict(list)
    for fact in newest:
        key = ("attribute", _plain(fact.attribute)) if fact.attribute is not None else ("words", _plain(fact.statement))
        about[key].append(fact)
    return tuple(_trait(said) for said in about.values())


def _trait(said: Sequence[KnownFact]) -> Trait:
    """`said`: newest first."""
    last = said[0].said_at
    now = {_value(fact): fact for fact in reversed(said) if fact.said_at == last}
    before = [fact for fact in said if _value(fact) not in now]
    unbroken = list(takewhile(lambda fact: _value(fact) in now, said))
    return Trait(tuple(reversed(now.values())), tuple(before), unbroken[-1].said_at, len(said) - len(before))


def _value(fact: KnownFact) -> str:
    return _plain(fact.value if fact.value is not None else fact.statement)


def _plain(words: str) -> str:
    return " ".join(words.casefold().split())
