"""Does the list of places of personal data leave nothing out?"""

from __future__ import annotations

from graph_schema.schema import NODES
from graph_schema.stores import NOT_PERSONAL, STORES


def test_every_label_is_covered_or_said_to_hold_nothing_personal() -> None:
    covered = {label for store in STORES for label in store.labels}
    declared = {node.label for node in NODES}
    assert covered | set(NOT_PERSONAL) == declared
    assert not covered & set(NOT_PERSONAL)


def test_every_store_says_what_it_holds_and_how_it_is_erased() -> None:
    assert len({store.name for store in STORES}) == len(STORES)
    for store in STORES:
        assert store.where
        assert store.holds
        assert store.erased_by


def test_the_stores_outside_the_graph_are_named() -> None:
    names = {store.name for store in STORES}
    assert {"uploads", "transaction logs", "fold checkpoints", "channel means", "dead letters", "undo records"} <= names
    assert {"engine mirrors", "training logs", "exports", "backups", "audio files", "inbox"} <= names
