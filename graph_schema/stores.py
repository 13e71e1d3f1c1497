"""Where does personal data live? Every place, what it holds and how it is erased; erasure and audit walk this list."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Store:
    name: str
    where: str
    holds: str
    erased_by: str
    labels: tuple[str, ...] = ()
    """Labels of the schema it covers; none outside the graph."""
    built: bool = True
    """False: a later step makes the store; it stands here so that erasure is thought of first."""


_WITH_SPACE = (
    "with its space (`service/graph/forget_space.py`); for a person, session, message or fact by `service/pipelines/erase.py`, "
    "in each place as `service/pipelines/erase_stores.py` says"
)

STORES: tuple[Store, ...] = (
    Store(
        "people",
        "graph",
        "names, aliases, centroids of voices, links between identities",
        _WITH_SPACE,
        ("Person", "LocalSpeaker"),
    ),
    Store(
        "voices",
        "graph",
        "embeddings of single utterances: biometric data",
        "when `expires_at` has passed (`forget_expired_exemplars`), when consent is withdrawn, " + _WITH_SPACE,
        ("Exemplar",),
    ),
    Store(
        "channel means",
        "graph",
        "mean embeddings of a device or line over the people heard on it",
        "made again from the exemplars that are left when some go; " + _WITH_SPACE,
        ("Channel",),
    ),
    Store("sessions", "graph", "titles, rosters, times; who attended when", _WITH_SPACE, ("Session",)),
    Store(
        "fold checkpoints",
        "graph: Session.checkpoint",
        "embeddings of turns not decided yet",
        "emptied when the session is complete, or a stream's is given up; with the session",
        ("Session",),
    ),
    Store("messages", "graph", "what was said, its embeddings, who said it to whom", _WITH_SPACE, ("Message",)),
    Store("images", "graph", "references to and captions of images shown, and their embeddings", _WITH_SPACE, ("Image",)),
    Store("facts", "graph", "statements with the turns they are made from, and their embeddings", _WITH_SPACE, ("Fact",)),
    Store("left brain", "graph", "entities and themes spoken of", _WITH_SPACE, ("Entity", "Schema")),
    Store(
        "right brain",
        "graph: PersonaNode, SHARES; Message.affect_of and what it names",
        "feelings, attitudes and traits of people who agreed to it",
        "when that consent is withdrawn, when the space is said to be a workplace, " + _WITH_SPACE,
        ("PersonaNode",),
    ),
    Store(
        "audiences",
        "graph",
        "who may read what",
        "an audience goes when nothing is for it any more; " + _WITH_SPACE,
        ("Audience",),
    ),
    Store(
        "kept sound",
        "graph",
        "how people sounded in what they said, and pieces of it where the space keeps these",
        "when that consent is withdrawn, when the space is said to be a workplace or to keep no sound, at `expires_at` (by the "
        "next ingest into the space or sweep of the service), " + _WITH_SPACE,
        ("AudioMemory",),
    ),
    Store(
        "questions",
        "graph; only where the setting `question_days` says so",
        "what somebody asked and what it touched; with `question_hits`, what it found, too",
        "after `question_days`, at the next question of the space or sweep of the service; " + _WITH_SPACE,
        ("Query",),
    ),
    Store(
        "accounts",
        "graph",
        "logins that people joined meetings with, bound to somebody or not, their names there, and when they were there",
        _WITH_SPACE,
        ("Account",),
    ),
    Store(
        "grants",
        "graph",
        "which accounts may ask for whom, until when, and who let them",
        "30 days after it ended, by the sweep of the service; with the person whom it is for; " + _WITH_SPACE,
        ("Grant",),
    ),
    Store("consents", "graph", "who agreed to what", "kept as proof until the space goes", ("Consent",)),
    Store(
        "opt-outs",
        "graph; only of people who refused",
        "by what somebody is known again who wants to be forgotten: 128 signs of a voice, hashes of logins, under a key",
        "when they agree; of who withdrew, with the person; of who opted out it outlives them, bound to nobody, until the "
        "space goes or it is taken away by hand (`voicegraph consent opt-outs`)",
        ("OptOut",),
    ),
    Store(
        "key of the opt-outs",
        "data directory: opt-outs.key",
        "what makes the marks of those who opted out comparable: without it they are worth nothing",
        "by hand: what was marked with it is known again no more",
    ),
    Store(
        "receipts",
        "graph",
        "what was erased: its id, who asked, counts; while it is swept also the names that are looked for",
        "kept as proof until the space goes; the names go with the end of the sweep",
        ("Receipt", "Erasure"),
    ),
    Store("audit", "graph", "who changed what, ids only", "kept as proof until the space goes", ("AuditEvent",)),
    Store("names proposed", "graph", "names that somebody may have, and the turns that say so", _WITH_SPACE, ("NameProposal",)),
    Store(
        "undo records",
        "graph",
        "what a merge, split or reassignment changed: ids, scores, names that were proposed",
        _WITH_SPACE,
        ("Correction",),
    ),
    Store("jobs", "graph", "requests of ingest: file names, errors", _WITH_SPACE, ("Job",)),
    Store(
        "events",
        "graph",
        "that sessions ended, who is who changed, something was erased: ids and counts",
        "7 days after it happened, by the next sweep of the service; " + _WITH_SPACE,
        ("Event",),
    ),
    Store(
        "webhooks",
        "graph",
        "addresses that events are sent to, and what became of each; no secrets, no bodies",
        "a webhook with `voicegraph webhooks remove`, its deliveries after 7 days; with its space, but for what is to be told "
        "of just that: the address and the space's name, until it is told or given up, 7 days at most",
        ("Webhook", "WebhookDelivery"),
    ),
    Store(
        "key of the webhooks",
        "data directory: webhooks.key",
        "what the secrets of webhooks are made of",
        "by hand: each webhook then needs a new secret (`voicegraph webhooks rotate`)",
    ),
    Store(
        "indexes",
        "Neo4j's index files",
        "words, readers and vectors of messages, facts, people and exemplars",
        "by Neo4j with the node; Lucene frees the bytes when it merges segments",
    ),
    Store(
        "transaction logs",
        "Neo4j's data/transactions",
        "everything written since the last checkpoint",
        "by Neo4j at each checkpoint: the embedded server keeps no older log (`keep_none`); set it on a server of your own",
    ),
    Store(
        "server logs",
        "Neo4j's logs and server.log",
        "no query texts or parameters unless query logging is turned on",
        "by rotation",
    ),
    Store(
        "uploads",
        "data directory: uploads/",
        "recordings and voice clips sent over HTTP; what is said on streams that are remembered, with whose token",
        "24 h after the last use, clips after 1 h; of a stream with its space, and at its end where leave to keep it has ended",
    ),
    Store(
        "tokens",
        "data directory: tokens.json, token-uses.json",
        "hashes of tokens, names of accounts, when each was last used",
        "`voicegraph token` commands, or by hand; when one was used goes with it at the next use of another; the name with the "
        "person whose token it is",
    ),
    Store(
        "answers of a language model",
        "data directory: chat/, a folder for each space; only where OPENAI_BASE_URL is set",
        "facts and entities as the model wrote them, under hashes of what it was asked; no feelings",
        "with its space, after 30 days, or by deleting the folder: they are only asked for again; what the model's host keeps "
        "is the host's",
    ),
    Store(
        "Neo4j Browser",
        "the user's web browser",
        "queries typed and the password, if remembered",
        "`:clear` and `:server disconnect`",
    ),
    Store("audio files", "where the user keeps them", "recordings given to `ingest`, which stay where they are", "by the user"),
    Store(
        "inbox",
        "graph",
        "what meetings' backends sent, as they sent it: words, names, e-mail addresses",
        "72 h after the meeting's end, or after its source was taken away, by the sweep of the service; " + _WITH_SPACE,
        ("Delivery", "Meeting", "MeetingWork"),
    ),
    Store(
        "sound of meetings",
        "data directory: meetings/, a folder for each space; only of sources with `listen`",
        "what a meeting's backend sent of its sound, until the meeting is over and was listened to",
        "when the meeting's session is complete; of one that nobody closes 72 h after the last piece, by the sweep of the "
        "service; with its space",
    ),
    Store(
        "dead letters",
        "graph: Delivery whose status is dead",
        "deliveries that could not be taken in",
        "by hand (`voicegraph hooks forget`), or after 30 days, by the sweep of the service; " + _WITH_SPACE,
        ("Delivery",),
    ),
    Store(
        "engine mirrors",
        "Neo4j under Graphiti's labels, data directory: mem0/; only where the setting `engine` was `graphiti` or `mem0`",
        "messages once more: words, embeddings, times; no names of people",
        "with its space, by `voicegraph engine forget`, or by `forget` of the engine for single messages",
    ),
    Store("training logs", "data directory", "questions and what was found", "at expiry", built=False),
    Store(
        "exports",
        "where the user writes them",
        "everything that is kept of a person, as a file",
        "by the user; that it was made is listed in the audit",
    ),
    Store(
        "ledger of erasures",
        "data directory: erasures.jsonl",
        "what was erased: ids only",
        "by hand, once no backup from before is kept",
    ),
    Store(
        "key of the receipts",
        "data directory: receipts.key",
        "what receipts of erasures are signed with",
        "by hand: receipts are then signed with a new one",
    ),
    Store(
        "backups",
        "where the user writes them",
        "the whole database",
        "by age; the service erases again what its ledger of erasures has, before it serves a database that was restored",
        built=False,
    ),
)

NOT_PERSONAL = {"Space": "policies and counters of a tenant; its id is a name that an administrator chose"}
"""Labels that hold nothing about a person, and why."""
