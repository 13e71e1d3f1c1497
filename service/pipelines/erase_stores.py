"""What does an erasure do in each place where personal data lives? The lists that receipts tell, one for each kind of what is
erased; a place in graph_schema/stores.py that is not here fails a test, and so does one that is here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graph_schema.stores import Store
from service.types.erasure import SubjectKind

EMPTIED = "emptied"
UNTOUCHED = "not touched"
_PERSON: Mapping[str, str] = {
    "people": "emptied: an id is left that nobody becomes again",
    "voices": EMPTIED,
    "opt-outs": "bound to nobody where they opted out, else emptied",
    "key of the opt-outs": "holds nothing of it",
    "channel means": "made anew from who is left",
    "sessions": "attendance, expected people and names in titles taken out; of an erased session all",
    "fold checkpoints": "of a session that is still written: when it is complete, or given up, and before there is no receipt",
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
    "tokens": "those of the person say no more to whom they were given; they open nothing, and `voicegraph token` revokes them",
    "answers of a language model": "emptied for the whole space: they are asked for again",
    "Neo4j Browser": "on the user's machine: by the user",
    "audio files": "where the user keeps them: by the user",
    "inbox": "deliveries of its meetings, once they are closed, and before there is no receipt",
    "sound of meetings": EMPTIED,
    "dead letters": "those of its meetings, and those with a name in them",
    "engine mirrors": EMPTIED,
    "training logs": "there are none yet",
    "exports": "where the user writes them: by the user",
    "ledger of erasures": "kept: ids only",
    "key of the receipts": "holds nothing of it",
    "backups": "not reached: the ledger of erasures is replayed on a database that is restored, before it serves",
}
_WHATEVER = (
    "key of the opt-outs",
    "receipts",
    "key of the webhooks",
    "indexes",
    "transaction logs",
    "server logs",
    "answers of a language model",
    "Neo4j Browser",
    "audio files",
    "training logs",
    "exports",
    "ledger of erasures",
    "key of the receipts",
    "backups",
)
"""Stores in which it is the same whatever is erased."""
_NAMED_ONLY: Mapping[str, str] = {
    **{name: _PERSON[name] if name in _WHATEVER else UNTOUCHED for name in _PERSON},
    "audit": "kept as proof: ids",
    "jobs": "those that name its id emptied",
    "questions": "those that name its id emptied; others find it no more",
    "events": "one says that it is erased, and goes after 7 days",
}
"""Of what is no person: nobody's names are looked for."""
DONE: Mapping[SubjectKind, Mapping[str, str]] = {
    SubjectKind.PERSON: _PERSON,
    SubjectKind.SESSION: {
        **_NAMED_ONLY,
        "people": "those who were known from it alone and are not named are gone; others' voices are made anew without it",
        "voices": "those heard in it emptied",
        "channel means": _PERSON["channel means"],
        "sessions": "it is gone, with who was there",
        "fold checkpoints": "gone with it",
        "messages": "all of it are gone",
        "images": "those shown in it emptied",
        "facts": "those without support by what is left",
        "left brain": "mentions in it taken out, and entities that nothing else mentions",
        "right brain": "what is said of people stays, without it as evidence",
        "audiences": "those that nothing else is for are gone",
        "kept sound": "that of it emptied",
        "names proposed": "what was said in it speaks for none; those that rest on nothing else emptied",
        "undo records": "keep what is of others: undoing restores nothing of it",
        "uploads": "its recordings, but for what a new revision was made of, too, and its stream",
        "inbox": _PERSON["inbox"],
        "sound of meetings": "that of its meetings that are over",
        "engine mirrors": EMPTIED,
    },
    SubjectKind.MESSAGE: {
        **_NAMED_ONLY,
        "people": "the voice of who said it is made anew without it",
        "voices": "those heard in it emptied",
        "channel means": _PERSON["channel means"],
        "sessions": "it counts there no more",
        "fold checkpoints": "of a session that broke off: emptied",
        "messages": "emptied to time and length, and read by nobody; views that others had of it are made anew",
        "images": "those shown with it emptied",
        "facts": "those without support by what is left",
        "left brain": "mentions in it taken out, and entities that nothing else mentions",
        "right brain": "what is said of people stays, without it as evidence",
        "kept sound": "that of it emptied",
        "names proposed": "it speaks for none; those that rest on nothing else emptied",
        "undo records": "keep what is of others: undoing restores nothing of it",
        "uploads": "not touched: a recording of its session may hold it, up to 24 h after the last use",
        "inbox": "deliveries of its meeting, all of them: what comes late puts nothing right in it any more",
        "sound of meetings": "that of its meeting",
        "dead letters": "those of its meeting; one that could not be read may hold it until its time is over",
        "engine mirrors": EMPTIED,
    },
    SubjectKind.FACT: {
        **_NAMED_ONLY,
        "sessions": "its session notes that it is not to be read out of it again",
        "messages": "not touched: what it was taken from stays",
        "facts": "it is emptied; others are not touched",
        "left brain": "entities that nothing else mentions are gone",
        "audiences": "those that nothing else is for are gone",
    },
}
"""Name of a store → what is true of it once the receipt of such a subject is given."""


def done_in(stores: Iterable[Store], kind: SubjectKind) -> dict[str, str]:
    """For each of `stores`. Raises KeyError for one that nobody thought of."""
    return {store.name: DONE[kind][store.name] for store in stores}
