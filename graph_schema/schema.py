"""What is in the graph? Every label, edge, property and index, with meaning and unit. A change starts here,
then a migration, then the query; tests hold the three together, and SCHEMA.md is made from this file."""

from __future__ import annotations

from graph_schema.model import Edge, FullTextIndex, Node, Property, VectorIndex

VOICE_SPACES: dict[str, int] = {"campplus": 192, "ecapa": 192, "titanet": 192}
"""Speaker embedding spaces with a migration of their own, and their dimensions (those of the released models)."""

TEXT_SPACES: dict[str, int] = {"e5_small_v2_q": 384, "minilm_l6_v2": 384}
"""Text embedding spaces with a migration of their own; views: `turn` (the words) and `context` (with what came before)."""

VIEWS = ("turn", "context")

IMAGE_SPACES: dict[str, int] = {"clip_vit_b32": 512}
"""Embedding spaces of images with a migration of their own, and their dimensions."""

_COMMON = (
    Property("id", "string", "UUID, or the caller's own id; ids we make follow from what they name, so a rerun makes the same"),
    Property("space", "string", "id of the tenant this belongs to"),
    Property("created_at", "datetime", "when it was first written, UTC"),
)

_DECISION = (
    Property("decision", "string", "link | create | assigned | corrected | unresolved"),
    Property("cosine", "float", "score of the person decided for", "[-1, 1]"),
    Property("runner_up", "float", "best score of anybody else", "[-1, 1]"),
    Property("runner_up_id", "string", "person whose score that is"),
    Property("margin", "float", "cosine - runner_up", "[0, 2]"),
    Property("threshold", "float", "what the cosine was compared with", "[-1, 1]"),
    Property("channels", "string", "what the threshold is for: wideband | telephone | cross | compensated"),
    Property("policy", "string", "routing policy that decided"),
    Property("encoder", "string", "embedding space of the cosines"),
    Property("by", "string", "router, settlement, account (whose login it came with), or who corrected it"),
    Property("reason", "string", "why, where the numbers do not say it"),
    Property("confidence", "float", "by account: that its owner spoke; none for a voice, whose cosine says it", "[0, 1]"),
)


def _node(
    label: str,
    meaning: str,
    *properties: Property,
    unique: tuple[tuple[str, ...], ...] = (),
    ranges: tuple[tuple[str, ...], ...] = (),
) -> Node:
    return Node(label, meaning, (*_COMMON, *properties), unique, ranges)


NODES: tuple[Node, ...] = (
    Node(
        "Space",
        "a tenant and its policies; the node that writers of identity lock",
        (
            Property("id", "string", "name of the space"),
            Property("created_at", "datetime", "when it was first written, UTC"),
            Property("access", "string", "who may read a message: own | addressed | attended | shared"),
            Property("routing", "string", "routing policy of the router"),
            Property("voice_access", "string", "what a voice may do: never | narrow | open"),
            Property("anonymous_voices", "string", "ephemeral | expire | keep"),
            Property("anonymous_days", "integer", "how long an anonymous voice is kept under `expire`", "days"),
            Property("workplace", "boolean", "no feelings or traits are inferred of anybody in it, and no sound is kept"),
            Property("keeps_sound", "boolean", "pieces of sound are kept of who granted it, and what embeds them"),
            Property("sound_days", "integer", "how long sounds and their pieces are kept", "days"),
            Property("identity_revision", "integer", "counts every change to who is who"),
            Property(
                "forgotten_revision",
                "integer",
                "the identity_revision at which a person was last deleted: voices read before are read anew",
            ),
        ),
    ),
    _node(
        "Person",
        "somebody who spoke or is known; anonymous until named; a tombstone when erased",
        Property("display_name", "string", "name shown; none while anonymous"),
        Property("named_by", "string", "who gave the name shown: a person's or account's id, or the id of a NameProposal"),
        Property("aliases", "list<string>", "other names"),
        Property("kind", "string", "anonymous | named | bot"),
        Property("tombstone", "boolean", "erased: kept only so that the person does not come back"),
        Property("num_turns", "integer", "accepted turns"),
        Property("net_speech", "float", "speech heard of this person alone", "seconds"),
        Property("revision", "integer", "the space's identity_revision at the last change of this person's voice"),
        *(
            Property(f"voiceprint__{s}", "list<float>", f"L2-normalised centroid of the live {s} exemplars")
            for s in VOICE_SPACES
        ),
        ranges=(("space", "revision"), ("space", "created_at", "id"), ("space", "display_name")),
    ),
    _node(
        "LocalSpeaker",
        "one voice or platform track within one session",
        Property("session_id", "string", "session it belongs to"),
        Property("label", "string", "the diariser's, channel's or platform's name for it; means nothing outside the session"),
        ranges=(("session_id",),),
    ),
    _node(
        "Exemplar",
        "one accepted utterance of a person as evidence of the voice; never without a consent state",
        Property("message_id", "string", "turn it was taken from"),
        Property("encoder", "string", "embedding space"),
        Property("encoder_version", "string", "hash of weights and pre-processing"),
        Property("net_speech", "float", "speech embedded", "seconds"),
        Property("snr_db", "float", "speech over noise", "dB"),
        Property("channel", "string", "acoustic channel tag"),
        Property("twin_of", "string", "id of the exemplar whose sound this is, made narrow as a telephone makes it"),
        Property("consent", "string", "unknown | granted, as it was when written"),
        Property("expires_at", "datetime", "when it must be gone; none: kept until erased"),
        *(Property(f"vector__{s}", "list<float>", f"L2-normalised {s} embedding, uncompensated") for s in VOICE_SPACES),
        ranges=(("message_id",), ("expires_at",)),
    ),
    _node(
        "Channel",
        "mean embedding of a device, phone line or feed, made anew from the live exemplars heard on it",
        Property("tag", "string", "channel tag of the exemplars"),
        Property("encoder", "string", "embedding space"),
        Property("encoder_version", "string", "hash of weights and pre-processing"),
        Property("mean", "list<float>", "mean over people of the mean of their L2-normalised embeddings"),
        Property("num_utterances", "integer", "exemplars in the mean"),
        Property("num_people", "integer", "people in the mean"),
        Property("version", "integer", "counts changes"),
        unique=(("space", "tag", "encoder"),),
    ),
    _node(
        "Session",
        "one conversation: a recording, a meeting, a day at home",
        Property("title", "string", "for people"),
        Property("started_at", "datetime", "UTC"),
        Property("zone", "string", "the original time zone, as given"),
        Property("source", "string", "file | upload | live:<provider>"),
        Property("external_id", "string", "the source's own id; for a file the hash of its sound"),
        Property("transcript", "string", "hash of the transcript beside a recording"),
        Property(
            "content_hash",
            "string",
            "hash of everything the ingest was given: a second delivery with another hash is a conflict",
        ),
        Property("roster", "list<string>", "people expected"),
        Property("addressed_to", "list<string>", "people that every turn is said to, as the caller said"),
        Property("access", "string", "the space's policy that its audiences were settled with"),
        Property("status", "string", "open | complete | failed"),
        Property("error", "string", "code of what broke it off"),
        Property("duration", "float", "length", "seconds"),
        Property("words_left_out", "integer", "heard or written, and in no message"),
        Property("captions_mended", "integer", "places where the transcript broke its format and was read anyway"),
        Property("encoder", "string", "voice embedding space used"),
        Property("embedder", "string", "text embedding space used"),
        Property("facts_by", "string", "extractor whose facts of this session are written; none: not yet"),
        Property("entities_by", "string", "reader whose mentions of entities are written, over these facts; none: not yet"),
        Property("sounds_by", "string", "tagger that listened for sounds; none: not yet"),
        Property("sounds_of", "list<string>", "ids of the people whose turns it listened to"),
        Property("checkpoint", "string", "JSON: how far the fold has been written, and its state beyond the graph"),
        unique=(("space", "external_id"),),
        ranges=(("space", "started_at", "id"), ("space", "transcript")),
    ),
    _node(
        "Message",
        "one speaker turn",
        Property("session_id", "string", "session it belongs to"),
        Property("index", "integer", "position in the session, from 0"),
        Property("text", "string", "what was said; none when nobody wrote it down"),
        Property("captions", "string", "captions of the images shown with it, one a line"),
        Property("given_id", "string", "the transcript's own id of it"),
        Property("answers", "string", "`given_id` of what it answers, as the transcript says"),
        Property("said_to", "list<string>", "labels of the voices it is said to, as the transcript says"),
        Property("language", "string", "BCP 47"),
        Property("start", "float", "from the session's start", "seconds"),
        Property("end", "float", "from the session's start", "seconds"),
        Property("said_at", "datetime", "started_at + start, UTC"),
        Property("net_speech", "float", "speech of this speaker alone", "seconds"),
        Property("overlapped", "float", "while somebody else spoke too", "seconds"),
        Property("level_dbfs", "float", "level of the speech", "dB of full scale"),
        Property("snr_db", "float", "speech over noise", "dB"),
        Property("bandwidth_hz", "float", "99 % of the energy lies below", "Hz"),
        Property("channel", "string", "acoustic channel tag"),
        Property(
            "provenance",
            "string",
            "where the text came from: recognised:<model> | transcript:<format> | live:<provider> | none",
        ),
        Property(
            "doubts", "list<string>", "bot (a program's words), partial (never finished): no facts of it; doubted: whose it is"
        ),
        Property("speaker_id", "string", "person of the SPEAKS edge, for filters in indexes; none while unresolved"),
        Property("decision", "string", "link | create | assigned | corrected | unresolved"),
        Property("reason", "string", "why unresolved or assigned"),
        Property("affect_of", "string", "person whose feelings the next eight tell, who agreed to it; of nobody else's turn"),
        Property("affect_by", "string", "name and version of what read them"),
        Property("valence", "float", "unpleasant to pleasant, by its words", "[-1, 1]"),
        Property("arousal", "float", "quiet to stirred, by words and voice", "[0, 1]"),
        Property("emotion", "string", "that its speaker says to feel"),
        Property("marks", "string", "JSON: feelings with target and cause, likes and dislikes, what they say they are"),
        Property("pitch", "float", "median fundamental frequency", "Hz"),
        Property("pitch_range", "float", "10th to 90th percentile of it", "semitones"),
        Property("speech_rate", "float", "words over net speech", "words a second"),
        Property("audience", "string", "id of the Audience, for filters in indexes"),
        Property(
            "readers", "string", "ids of who may read it, without hyphens, for the full-text index; `public` for everybody"
        ),
        Property("mirrored", "list<string>", "ENGINE/EMBEDDING SPACE/AUDIENCE: where another engine has it, and for whom"),
        *(
            Property(f"embedding__{s}__{v}", "list<float>", f"L2-normalised {s} embedding of the {v} view")
            for s in TEXT_SPACES
            for v in VIEWS
        ),
        unique=(("session_id", "index"),),
        ranges=(("audience",), ("space", "said_at", "id"), ("space", "speaker_id"), ("affect_of",)),
    ),
    _node(
        "Fact",
        "self-contained statement with its sources",
        Property(
            "statement",
            "string",
            "understood without its context; {speaker} and {addressee} stand for whom its source turn is by and to, so that "
            "a name or a correction changes no fact",
        ),
        Property("kind", "string", "statement | plan | preference | commitment | question"),
        Property("session_id", "string", "session it was said in"),
        Property("said_at", "datetime", "when its source turn was said, UTC"),
        Property("about_from", "datetime", "begin of the time it speaks of, UTC"),
        Property("about_to", "datetime", "end of that time, not within it, UTC"),
        Property("about_precision", "string", "year | season | month | week | day | hour | minute"),
        Property("about_words", "string", "how that time was said: last Friday"),
        Property("attribute", "string", "what a newer fact of the same speaker supersedes, without the value: favourite food"),
        Property("value", "string", "of that attribute"),
        Property("confidence", "float", "of the extractor", "[0, 1]"),
        Property("extractor", "string", "name and version of what extracted it"),
        Property("compared_as", "string", "comparison, extractor and speaker that it was compared by; none: it waits"),
        Property("valid_from", "datetime", "since when it holds"),
        Property("valid_to", "datetime", "until when; none: still holds"),
        Property("audience", "string", "id of the Audience: the intersection over its evidence"),
        Property("readers", "string", "as on Message"),
        *(
            Property(f"embedding__{s}__{v}", "list<float>", f"L2-normalised {s} embedding of the {v} view")
            for s in TEXT_SPACES
            for v in VIEWS
        ),
        ranges=(("audience",), ("session_id",)),
    ),
    _node(
        "Image",
        "an image shown with a message",
        Property("reference", "string", "address or name that the caller gave"),
        Property("caption", "string", "what it shows, in words"),
        Property("position", "integer", "among the images of its message, from 0"),
        *(Property(f"embedding__{s}", "list<float>", f"L2-normalised {s} embedding of its caption") for s in TEXT_SPACES),
        *(Property(f"embedding__{s}", "list<float>", f"L2-normalised {s} embedding") for s in IMAGE_SPACES),
    ),
    _node("Schema", "left brain: a theme holding entities", Property("label", "string", "for people")),
    _node(
        "Entity",
        "left brain: a person, place, thing, event or topic spoken of; exists for who may read where it is mentioned",
        Property("normal_name", "string", "NFKC, case-folded; of a common noun the lemma"),
        Property("type", "string", "person | place | organisation | thing | event | topic"),
        unique=(("space", "type", "normal_name"),),
    ),
    _node(
        "PersonaNode",
        "right brain: an attitude or trait that showed on several occasions, as of the last one; what a viewer sees is made "
        "anew from the turns that it rests on",
        Property("kind", "string", "independent | cross_entity"),
        Property("aspect", "string", "feeling | attitude | self"),
        Property("emotion", "string", "of a feeling: joy | calm | sadness | anger | anxiety | tiredness | loneliness"),
        Property("description", "string", "in words; without the name of a person it concerns: that is CROSS_BRAIN's"),
        Property("polarity", "float", "dislike to like", "[-1, 1]"),
        Property("intensity", "float", "weak to strong", "[0, 1]"),
        Property("support", "integer", "turns that support it"),
        Property("num_sessions", "integer", "sessions that these are from"),
        Property("since", "datetime", "when it first showed and not otherwise since, UTC"),
        Property("last_shown", "datetime", "when it last showed, UTC"),
    ),
    Node(
        "Audience",
        "an immutable set of readers; `id` is the hash of space and reader ids",
        (
            *_COMMON,
            Property("public", "boolean", "everybody of the space may read it"),
            Property("num_readers", "integer", "how many people"),
        ),
    ),
    _node(
        "AudioMemory",
        "a sound of one turn; only with its speaker's consent, with expiry",
        Property("label", "string", "how the speaker sounds (laughing, whispering, …), or what is around (music, dog, …)"),
        Property("of", "string", "id of the person whose turn it was when it was heard; of nobody else's turn is it told"),
        Property("start", "float", "from the session's start", "seconds"),
        Property("end", "float", "from the session's start", "seconds"),
        Property("score", "float", "how sure, in the tagger's own scale", "[0, 1]"),
        Property("tagger", "string", "name and version of what heard it"),
        Property("waveform", "string", "the piece itself, Ogg Opus in base64; only where the space keeps sound"),
        Property("embedding", "list<float>", "L2-normalised energies of its bands (bands_1); kept as `waveform` is"),
        Property("expires_at", "datetime", "when it must be gone"),
        ranges=(("expires_at",),),
    ),
    _node(
        "Query",
        "a question asked and what it activated and found; serves only its asker",
        Property("text", "string", "the question"),
        Property("asked_by", "string", "person asking"),
        Property("about", "list<string>", "ids of the people it names, in order"),
        *(
            Property(f"embedding__{s}", "list<float>", f"L2-normalised {s} embedding of the question without names")
            for s in TEXT_SPACES
        ),
        Property("expires_at", "datetime", "when it must be gone"),
        ranges=(("expires_at",), ("space", "asked_by", "created_at")),
    ),
    _node(
        "Account",
        "a login that outlives a meeting: issuer and subject; bound to one Person by somebody's word alone, never by a merge",
        Property("issuer", "string", "who vouches: zoom, attendee, …; `mailto`: a platform verified the e-mail address"),
        Property("subject", "string", "who it is there"),
        Property("name", "string", "display name that its platform gave last: evidence, and for whoever decides whose it is"),
        Property("shared", "boolean", "several people use it, a meeting room's for one: nothing follows from it"),
        unique=(("space", "issuer", "subject"),),
    ),
    _node(
        "Consent",
        "who agreed to what, when and how",
        Property("purpose", "string", "remember_voice | attribute | keep_audio | infer_persona"),
        Property("state", "string", "unknown | granted | withdrawn | opted_out"),
        Property("text_version", "string", "version of the text agreed to"),
        Property("channel", "string", "how it was given"),
        Property("at", "datetime", "when"),
    ),
    _node(
        "Receipt",
        "what was erased",
        Property("subject", "string", "what it was"),
        Property("counts", "string", "JSON by store"),
    ),
    _node(
        "NameProposal",
        "a name that somebody may have, with what speaks for it; contradicting ones stand side by side",
        Property("name", "string", "as said or labelled"),
        Property("normal_name", "string", "NFKC, case-folded"),
        Property("sources", "list<string>", "kinds of evidence: those of EVIDENCED_BY"),
        Property("num_claims", "integer", "how often it was claimed"),
        Property("confidence", "float", "how sure", "[0, 1]"),
        Property("held", "string", "why it is not applied, sure as it may be: contradicted | taken | unsure; none: nothing"),
        Property("status", "string", "open | applied | rejected"),
        Property("decided_by", "string", "who applied or rejected it; none while open"),
        ranges=(("space", "status"),),
    ),
    _node(
        "Correction",
        "a change of who is who, with what undoing it takes: ids, scores and names that were proposed",
        Property("kind", "string", "merge | split | reassign | not_same"),
        Property("actor", "string", "account or person, or `voicegraph` for an automatic merge"),
        Property("why", "string", "reason given"),
        Property("people", "list<string>", "ids of the people concerned: it goes with any of them"),
        Property("messages", "list<string>", "ids of the turns that changed hands"),
        Property("record", "string", "JSON of what was before and after"),
        Property("undone_at", "datetime", "when it was taken back; none: it holds"),
        Property("undone_by", "string", "who took it back"),
        ranges=(("space", "created_at", "id"),),
    ),
    _node(
        "AuditEvent",
        "who did or read what, and why",
        Property("actor", "string", "account or person"),
        Property("action", "string", "verb"),
        Property("target", "string", "id"),
        Property("why", "string", "reason"),
        ranges=(("space", "created_at"),),
    ),
    _node(
        "Job",
        "a mutation asked for over HTTP: keeps its idempotency key, and for an ingest how far it is",
        Property(
            "kind",
            "string",
            "ingest, or the name of another mutation: enrol | name_person | merge_people | undo_correction | …",
        ),
        Property("key", "string", "idempotency key"),
        Property("body_hash", "string", "of what the key was first used with"),
        Property("account", "string", "id of the Account that asked"),
        Property("status", "string", "queued | running | complete | failed | interrupted"),
        Property("stage", "string", "what it is doing"),
        Property("progress", "float", "share done", "[0, 1]"),
        Property("session_id", "string", "what an ingest made"),
        Property("result", "string", "JSON of ids and counts that came of it"),
        Property("error", "string", "code and message"),
        Property("request", "string", "JSON of what was asked, for an ingest to be resumed"),
        Property("heartbeat_at", "datetime", "last sign of life"),
        unique=(("space", "account", "key"),),
        ranges=(("status",),),
    ),
    _node(
        "Meeting",
        "what a configured source delivers of one meeting; whoever delivers writes it",
        Property("source", "string", "name of the source, as configured"),
        Property("provider", "string", "connector that reads it"),
        Property("external_id", "string", "the provider's id of the meeting"),
        Property("session_id", "string", "session that is written of it; none: not begun"),
        Property("status", "string", "open | closed"),
        Property("num_deliveries", "integer", "deliveries that came, repeats not counted: the next `seq`"),
        Property("last_at", "datetime", "when the last delivery came, UTC"),
        Property("expires_at", "datetime", "when it and its deliveries go; none while it is open"),
        unique=(("space", "source", "external_id"),),
        ranges=(("expires_at",),),
    ),
    _node(
        "MeetingWork",
        "how far a meeting's deliveries are taken in, and by whom; with the Meeting's id. Whoever takes in writes it, and who "
        "delivers does not wait for that",
        Property("num_folded", "integer", "deliveries taken in: the next `folded`"),
        Property("first_folded", "integer", "`folded` of the first of the meeting that goes on, in a room that holds several"),
        Property("leased_by", "string", "worker that takes in its deliveries"),
        Property("leased_until", "datetime", "when another worker may"),
    ),
    _node(
        "Delivery",
        "one webhook or websocket message of a meeting's backend, as it came",
        Property("meeting_id", "string", "id of its Meeting; none of one that cannot be read"),
        Property("source", "string", "name of the source, as configured"),
        Property("provider", "string", "connector that reads it"),
        Property("key", "string", "the same for a repeat: the provider's id of the delivery, else a hash of it"),
        Property("seq", "integer", "place in its meeting as it came, from 0; a dead letter tried again gets a new one"),
        Property("folded", "integer", "place among those of its meeting that were taken in, from 0"),
        Property("body", "string", "what was sent"),
        Property("body_base64", "boolean", "`body` is in base64, since it is no UTF-8"),
        Property("num_bytes", "integer", "length of what was sent", "bytes"),
        Property("headers", "string", "JSON of the headers that reading it takes; no signatures or secrets"),
        Property("query", "string", "JSON of the query of its URL"),
        Property("carried", "string", "JSON of what was told before it on its connection, or by what pointed to it"),
        Property("binary", "boolean", "a binary message of a websocket"),
        Property("connection", "string", "id of the websocket connection"),
        Property("opened_at", "datetime", "when that connection began, UTC"),
        Property("received_at", "datetime", "when it came, UTC"),
        Property("status", "string", "waiting | done | dead"),
        Property("attempts", "integer", "times that it could not be taken in"),
        Property("error", "string", "code and message of the last of them"),
        Property("next_at", "datetime", "from when on it is to be taken in, while it waits"),
        Property("expires_at", "datetime", "when it goes; none while its meeting is open"),
        unique=(("space", "source", "key"),),
        ranges=(
            ("meeting_id", "status", "seq"),
            ("meeting_id", "folded"),
            ("status", "next_at"),
            ("space", "status", "created_at"),
            ("expires_at",),
        ),
    ),
    _node(
        "Event",
        "something that happened in the space that others may be told of: ids and counts; what of it somebody may know is read "
        "when it is told",
        Property("kind", "string", "session.ready | person.unresolved | identity.revised | erased"),
        Property("what", "string", "merge | split | reassign | not_same | undo | account; space | voices | inferred | sounds"),
        Property("session_id", "string", "session it is of"),
        Property("correction_id", "string", "correction it is of"),
        Property("people", "list<string>", "ids of the people concerned"),
        Property("voices", "list<string>", "ids of the local speakers concerned"),
        Property("counts", "string", "JSON of what was erased: what can be counted still is counted when it is told"),
        ranges=(("space", "created_at", "id"), ("created_at",)),
    ),
    _node(
        "Webhook",
        "an address that events are sent to, signed; its secret stands nowhere: made of `id`, `generation` and a key that the "
        "service has in a file",
        Property("url", "string", "where to, as the administrator gave it"),
        Property("kinds", "list<string>", "kinds of events that it is told of"),
        Property("made_by", "string", "id of the account that made it, or `command-line`"),
        Property("person_id", "string", "with whose eyes it is told; none: all of the space"),
        Property("status", "string", "active | disabled"),
        Property("disabled_why", "string", "failing | gone (it answered 410) | paused"),
        Property("generation", "integer", "counts its secrets, from 1"),
        Property("rotated_at", "datetime", "since when the newest secret holds; the one before signs too for a day"),
        Property("key", "string", "which of the service's keys its secrets are made of: the start of its hash"),
        Property("failures", "integer", "deliveries given up since the last that arrived"),
        Property("last_sent_at", "datetime", "when one last arrived"),
        ranges=(("space", "created_at", "id"), ("status",)),
    ),
    _node(
        "WebhookDelivery",
        "one event for one webhook: waits, and keeps what came of it",
        Property("webhook_id", "string", "to which"),
        Property("event_id", "string", "which"),
        Property("kind", "string", "of the event"),
        Property("status", "string", "waiting | sent | dead | withheld (nothing that it may be told)"),
        Property("attempts", "integer", "times it was sent, or was about to be"),
        Property("next_at", "datetime", "not tried before: after a failure, or while a process has it"),
        Property("lease", "string", "of the process that has it"),
        Property("http_status", "integer", "of the last answer; none where there was none"),
        Property("error", "string", "code of what the last try ended with"),
        Property("sent_at", "datetime", "when it arrived"),
        ranges=(("webhook_id", "status", "next_at"), ("space", "created_at", "id"), ("created_at",)),
    ),
)

EDGES: tuple[Edge, ...] = (
    Edge("SPEAKS", ("Person",), ("Message",), "this person said this message; written once decided", _DECISION),
    Edge(
        "UTTERED",
        ("LocalSpeaker",),
        ("Message",),
        "this voice of the session said it, whoever it is; with the scores of a turn that was first left unresolved",
        _DECISION,
    ),
    Edge("HEARD_IN", ("LocalSpeaker",), ("Session",), "the voice belongs to this session"),
    Edge(
        "IS",
        ("LocalSpeaker", "Account"),
        ("Person",),
        "is this person; of an account at most one, by somebody's word, and it stays when that person is merged or split",
        (*_DECISION, Property("at", "datetime", "of an account: since when")),
    ),
    Edge(
        "USES",
        ("LocalSpeaker",),
        ("Account",),
        "spoke with this login, as the meeting's platform says",
        (
            Property("is_bot", "boolean", "a program spoke, whoever's login it is"),
            Property("several", "boolean", "several people are behind it: a room, a shared device"),
        ),
    ),
    Edge(
        "ADDRESSES",
        ("Message",),
        ("Person",),
        "said to this person",
        (
            Property("confidence", "float", "how sure", "[0, 1]"),
            Property("how", "string", "caller | named | reply | only_other | all"),
        ),
    ),
    Edge("IN_SESSION", ("Message",), ("Session",), "said in this session"),
    Edge("REPLIES_TO", ("Message",), ("Message",), "answers that message"),
    Edge(
        "ATTENDED",
        ("Person", "Account"),
        ("Session",),
        "was there; of an account: somebody with this login was, which opens nothing by itself",
        (
            Property("starts", "list<float>", "begin of each interval", "seconds"),
            Property("ends", "list<float>", "end of each interval", "seconds"),
            Property("source", "string", "platform | roster | caller | voice"),
            Property("beside", "list<string>", "of an account: ids of the others that the same participant came with"),
        ),
    ),
    Edge("FOR", ("Message", "Fact"), ("Audience",), "may be read by this audience"),
    Edge("MAY_READ", ("Person",), ("Audience",), "is one of the readers"),
    Edge("IN_SCHEMA", ("Entity",), ("Schema",), "belongs to exactly one schema"),
    Edge(
        "MICRO",
        ("Entity",),
        ("Entity",),
        "mentioned in the same turns; from the smaller id to the greater. Counted over all turns: never shown, only a way to "
        "what a viewer may see of it",
        (
            Property(
                "weight",
                "float",
                "turns that mention both, at `at`: each is halved with every half-life before it. For who looks at the graph; "
                "a viewer's is counted when it is read, and so is whether it is strong",
            ),
            Property("at", "datetime", "when the last of these turns was said"),
        ),
    ),
    Edge(
        "MACRO",
        ("Schema",),
        ("Schema",),
        "spoken of in the same turns; from the smaller id to the greater. Counted over all turns: never shown",
        (
            Property("weight", "float", "turns that speak of both, as of MICRO"),
            Property("at", "datetime", "when the last of these turns was said"),
        ),
    ),
    Edge(
        "CROSS_BRAIN",
        ("PersonaNode",),
        ("Entity", "Person"),
        "whom or what the attitude concerns: an entity by the name that was said, a person where the turns were said to them",
    ),
    Edge("HAS_PERSONA", ("Person",), ("PersonaNode",), "has this attitude"),
    Edge(
        "SHARES",
        ("Person",),
        ("Person",),
        "lets them know of an attitude or trait, one edge for each; which, and in what words, is read when it is shown",
        (
            Property("trait", "string", "id that follows from whose and what it is, and whom it concerns"),
            Property("against", "boolean", "it was one against something then; turned into its opposite it is not shared"),
            Property("at", "datetime", "since when"),
        ),
    ),
    Edge(
        "HAS_EXEMPLAR",
        ("Person", "LocalSpeaker"),
        ("Exemplar",),
        "evidence of this person's voice; of a voice of the session while a human took it from a person and gave it to nobody",
    ),
    Edge("GAVE", ("Person",), ("Consent",), "gave or withdrew it"),
    Edge(
        "EVIDENCED_BY",
        ("Fact", "PersonaNode", "NameProposal"),
        ("Message",),
        "rests on this turn",
        (
            Property(
                "sources",
                "list<string>",
                "of a name, what the turn says: self_introduction | weak_introduction | addressed | platform_label | "
                "doubted_label | shared_label; against it: denied | calls",
            ),
            Property("role", "string", "of a fact: source, the turn it was taken from, or context"),
        ),
    ),
    Edge(
        "REVISES",
        ("Fact",),
        ("Fact",),
        "a newer fact changes an older one of the same person; told to who may read both",
        (Property("change", "string", "update | delete | keep (says it again)"),),
    ),
    Edge("ABOUT", ("NameProposal",), ("Person", "LocalSpeaker"), "whose name it may be"),
    Edge("ATTACHED_TO", ("AudioMemory", "Image"), ("Entity", "Message"), "sounds like this; was shown with it"),
    Edge(
        "MENTIONED_IN",
        ("Entity",),
        ("Fact", "Message"),
        "is spoken of there; in a fact where its own turn only points to it",
        (Property("surface", "string", "as it was said"), Property("kind", "string", "name | noun")),
    ),
    Edge(
        "ALIAS_OF",
        ("Entity",),
        ("Entity",),
        "another name of the same, as somebody said; at most one leaves an entity, and taking it away undoes it",
        (Property("by", "string", "account or person who said so"), Property("why", "string", "reason")),
    ),
    Edge("ACTIVATED", ("Query",), ("Entity",), "the question touched it"),
    Edge(
        "FOUND",
        ("Query",),
        ("Message",),
        "was shown for the question",
        (Property("score", "float", "how likely it was held to answer", "[0, 1]"),),
    ),
    Edge(
        "MERGED_INTO",
        ("Person",),
        ("Person",),
        "the same person, as an overlay",
        (
            Property("by", "string", "who or what merged"),
            Property("why", "string", "reason"),
            Property("confirmed", "boolean", "widens what may be read only when true"),
            Property("cosine", "float", "of the two voices; none where a human merged", "[-1, 1]"),
            Property("correction", "string", "id of the Correction that undoes it"),
        ),
    ),
    Edge(
        "MAY_BE",
        ("Person", "LocalSpeaker"),
        ("Person",),
        "proposal that the two are one person: for somebody to decide",
        (
            Property("cosine", "float", "of the two voices", "[-1, 1]"),
            Property("margin", "float", "ahead of the next likeliest person", "[0, 2]"),
            Property("threshold", "float", "from which the merge would have been made at once", "[-1, 1]"),
            Property("num_turns", "integer", "turns that speak for it"),
            Property(
                "why",
                "string",
                "exclusive | alike | contradicting_label; by the login it came with: account | contradicts_account | "
                "several_accounts",
            ),
        ),
    ),
    Edge(
        "NOT_SAME_AS",
        ("Person",),
        ("Person",),
        "a pair that a human rejected",
        (Property("by", "string", "who"), Property("why", "string", "reason")),
    ),
)

VECTOR_INDEXES: tuple[VectorIndex, ...] = (
    *(
        VectorIndex(f"person_voiceprint__{s}", "Person", f"voiceprint__{s}", d, ("space",), False)
        for s, d in VOICE_SPACES.items()
    ),
    *(VectorIndex(f"exemplar_vector__{s}", "Exemplar", f"vector__{s}", d, ("space",), False) for s, d in VOICE_SPACES.items()),
    *(
        VectorIndex(f"{label.lower()}_embedding__{s}__{v}", label, f"embedding__{s}__{v}", d, ("space", "audience"), False)
        for label in ("Message", "Fact")
        for s, d in TEXT_SPACES.items()
        for v in VIEWS
    ),
    *(VectorIndex(f"image_embedding__{s}", "Image", f"embedding__{s}", d, ("space",), False) for s, d in IMAGE_SPACES.items()),
)

FULL_TEXT_INDEXES: tuple[FullTextIndex, ...] = (
    FullTextIndex("message_text", "Message", ("text", "captions", "readers"), "standard-no-stop-words"),
    FullTextIndex("fact_text", "Fact", ("statement", "readers"), "standard-no-stop-words"),
    FullTextIndex("person_name", "Person", ("display_name", "aliases"), "standard-no-stop-words"),
)
