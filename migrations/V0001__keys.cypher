// Uniqueness of every key that a MERGE uses; each constraint brings the range index of its key.

CYPHER 25 CREATE CONSTRAINT space_key__id IF NOT EXISTS
FOR (n:Space) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT person_key__id IF NOT EXISTS
FOR (n:Person) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT local_speaker_key__id IF NOT EXISTS
FOR (n:LocalSpeaker) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT exemplar_key__id IF NOT EXISTS
FOR (n:Exemplar) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT channel_key__id IF NOT EXISTS
FOR (n:Channel) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT channel_key__space__tag__encoder IF NOT EXISTS
FOR (n:Channel) REQUIRE (n.space, n.tag, n.encoder) IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT session_key__id IF NOT EXISTS
FOR (n:Session) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT session_key__space__external_id IF NOT EXISTS
FOR (n:Session) REQUIRE (n.space, n.external_id) IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT message_key__id IF NOT EXISTS
FOR (n:Message) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT message_key__session_id__index IF NOT EXISTS
FOR (n:Message) REQUIRE (n.session_id, n.index) IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT fact_key__id IF NOT EXISTS
FOR (n:Fact) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT schema_key__id IF NOT EXISTS
FOR (n:Schema) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT entity_key__id IF NOT EXISTS
FOR (n:Entity) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT entity_key__space__type__normal_name IF NOT EXISTS
FOR (n:Entity) REQUIRE (n.space, n.type, n.normal_name) IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT persona_node_key__id IF NOT EXISTS
FOR (n:PersonaNode) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT audience_key__id IF NOT EXISTS
FOR (n:Audience) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT audio_memory_key__id IF NOT EXISTS
FOR (n:AudioMemory) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT query_key__id IF NOT EXISTS
FOR (n:Query) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT account_key__id IF NOT EXISTS
FOR (n:Account) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT account_key__space__issuer__subject IF NOT EXISTS
FOR (n:Account) REQUIRE (n.space, n.issuer, n.subject) IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT consent_key__id IF NOT EXISTS
FOR (n:Consent) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT receipt_key__id IF NOT EXISTS
FOR (n:Receipt) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT audit_event_key__id IF NOT EXISTS
FOR (n:AuditEvent) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT job_key__id IF NOT EXISTS
FOR (n:Job) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT job_key__space__account__key IF NOT EXISTS
FOR (n:Job) REQUIRE (n.space, n.account, n.key) IS UNIQUE;
