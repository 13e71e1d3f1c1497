"""What does an erasure do in each place where personal data lives? The list that a receipt tells; a place that stands in
graph_schema/stores.py and not here fails a test, and so does one that is here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graph_schema.stores import Store

EMPTIED = "emptied"
DONE: Mapping[str, str] = {
    "people": "emptied: an id is left that nobody becomes again",
    "voices": EMPTIED,
    "opt-outs": "bound to nobody where they opted out, else emptied",
    "key of the opt-outs": "holds nothing of it",
    "channel means": "made anew from who is left",
    "sessions": "attendance, expected people and names in titles taken out; of an erased session all",
    "fold checkpoints": "of a session that is still written: when it is complete, and before there is no receipt",
    "messages": "emptied to time and length, and read by nobody; of an erased session all; others' keep their words",
    "images": EMPTIED,
    "facts": "those without support by what is left, and those about who is erased",
    "left brain": "mentions taken out, and entities that nothing else mentions or that are named so",
    "right brain": EMPTIED,
    "audiences": "made anew without who is erased",
    "kept sound": EMPTIED,
    "questions": EMPTIED,
    "accounts": EMPTIED,
    "grants": EMPTIED,
    "consents": "kept as proof, without what may name who gave them",
    "receipts": "kept as proof: ids and counts",
    "audit": "kept as proof: ids, without whole names in reasons",
    "names proposed": EMPTIED,
    "undo records": "keep what is of others: undoing restores survivors only",
    "jobs": EMPTIED,
    "events": "name them no more, but for the one that says that it is erased, which goes after 7 days",
    "webhooks": "those told with their eyes are gone",
    "key of the webhooks": "holds nothing of it",
    "indexes": "emptied with the nodes; Lucene frees the bytes when it merges segments",
    "transaction logs": "freed by Neo4j at its checkpoints",
    "server logs": "hold nothing of it",
    "uploads": "recordings of its sessions, streams, and what the person's own accounts sent",
    "tokens": "left: `voicegraph token` revokes them; they open nothing, since nobody erased reads anything",
    "answers of a language model": "emptied for the whole space: they are asked for again",
    "Neo4j Browser": "on the user's machine: by the user",
    "audio files": "where the user keeps them: by the user",
    "inbox": "deliveries of its meetings that are over; of one that goes on 72 h after its end",
    "sound of meetings": EMPTIED,
    "dead letters": "those of its meetings, and those with a name in them",
    "engine mirrors": EMPTIED,
    "training logs": "there are none yet",
    "exports": "where the user writes them: by the user",
    "ledger of erasures": "kept: ids only",
    "key of the receipts": "holds nothing of it",
    "backups": "not reached: the ledger of erasures is replayed on a database that is restored, before it serves",
}
"""Name of a store → what is true of it once the receipt is given."""


def done_in(stores: Iterable[Store]) -> dict[str, str]:
    """For each of `stores`. Raises KeyError for one that nobody thought of."""
    return {store.name: DONE[store.name] for store in stores}
