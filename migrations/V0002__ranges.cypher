// Range indexes: keyset pages, what expires, what changed since a revision.

CYPHER 25 CREATE INDEX person_by__space__revision IF NOT EXISTS
FOR (n:Person) ON (n.space, n.revision);

CYPHER 25 CREATE INDEX person_by__space__created_at__id IF NOT EXISTS
FOR (n:Person) ON (n.space, n.created_at, n.id);

CYPHER 25 CREATE INDEX person_by__space__display_name IF NOT EXISTS
FOR (n:Person) ON (n.space, n.display_name);

CYPHER 25 CREATE INDEX local_speaker_by__session_id IF NOT EXISTS
FOR (n:LocalSpeaker) ON (n.session_id);

CYPHER 25 CREATE INDEX exemplar_by__message_id IF NOT EXISTS
FOR (n:Exemplar) ON (n.message_id);

CYPHER 25 CREATE INDEX exemplar_by__expires_at IF NOT EXISTS
FOR (n:Exemplar) ON (n.expires_at);

CYPHER 25 CREATE INDEX session_by__space__started_at__id IF NOT EXISTS
FOR (n:Session) ON (n.space, n.started_at, n.id);

CYPHER 25 CREATE INDEX message_by__audience IF NOT EXISTS
FOR (n:Message) ON (n.audience);

CYPHER 25 CREATE INDEX message_by__space__said_at__id IF NOT EXISTS
FOR (n:Message) ON (n.space, n.said_at, n.id);

CYPHER 25 CREATE INDEX message_by__space__speaker_id IF NOT EXISTS
FOR (n:Message) ON (n.space, n.speaker_id);

CYPHER 25 CREATE INDEX fact_by__audience IF NOT EXISTS
FOR (n:Fact) ON (n.audience);

CYPHER 25 CREATE INDEX audio_memory_by__expires_at IF NOT EXISTS
FOR (n:AudioMemory) ON (n.expires_at);

CYPHER 25 CREATE INDEX query_by__expires_at IF NOT EXISTS
FOR (n:Query) ON (n.expires_at);

CYPHER 25 CREATE INDEX audit_event_by__space__created_at IF NOT EXISTS
FOR (n:AuditEvent) ON (n.space, n.created_at);

CYPHER 25 CREATE INDEX job_by__status IF NOT EXISTS
FOR (n:Job) ON (n.status);
