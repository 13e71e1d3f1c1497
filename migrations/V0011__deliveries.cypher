// What meetings' backends deliver: each delivery once, by meeting in the order in which they came, and those that still wait.

CYPHER 25 CREATE CONSTRAINT meeting_key__id IF NOT EXISTS
FOR (n:Meeting) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT meeting_key__space__source__external_id IF NOT EXISTS
FOR (n:Meeting) REQUIRE (n.space, n.source, n.external_id) IS UNIQUE;

CYPHER 25 CREATE INDEX meeting_by__expires_at IF NOT EXISTS
FOR (n:Meeting) ON (n.expires_at);

CYPHER 25 CREATE CONSTRAINT delivery_key__id IF NOT EXISTS
FOR (n:Delivery) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT delivery_key__space__source__key IF NOT EXISTS
FOR (n:Delivery) REQUIRE (n.space, n.source, n.key) IS UNIQUE;

CYPHER 25 CREATE INDEX delivery_by__meeting_id__status__seq IF NOT EXISTS
FOR (n:Delivery) ON (n.meeting_id, n.status, n.seq);

CYPHER 25 CREATE INDEX delivery_by__meeting_id__folded IF NOT EXISTS
FOR (n:Delivery) ON (n.meeting_id, n.folded);

CYPHER 25 CREATE INDEX delivery_by__status__next_at IF NOT EXISTS
FOR (n:Delivery) ON (n.status, n.next_at);

CYPHER 25 CREATE INDEX delivery_by__space__status__created_at IF NOT EXISTS
FOR (n:Delivery) ON (n.space, n.status, n.created_at);

CYPHER 25 CREATE INDEX delivery_by__expires_at IF NOT EXISTS
FOR (n:Delivery) ON (n.expires_at);
