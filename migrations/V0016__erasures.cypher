// What is being erased, and what proves that it was: by subject, and the newest first.

CYPHER 25 CREATE CONSTRAINT erasure_key__id IF NOT EXISTS
FOR (n:Erasure) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE INDEX receipt_by__space__created_at__id IF NOT EXISTS
FOR (n:Receipt) ON (n.space, n.created_at, n.id);

CYPHER 25 CREATE INDEX receipt_by__space__subject IF NOT EXISTS
FOR (n:Receipt) ON (n.space, n.subject);
