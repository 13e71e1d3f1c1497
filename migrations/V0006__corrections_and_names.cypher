// Keys and ranges of what corrects who is who: names proposed, and the records that undo a change.

CYPHER 25 CREATE CONSTRAINT name_proposal_key__id IF NOT EXISTS
FOR (n:NameProposal) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE CONSTRAINT correction_key__id IF NOT EXISTS
FOR (n:Correction) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE INDEX name_proposal_by__space__status IF NOT EXISTS
FOR (n:NameProposal) ON (n.space, n.status);

CYPHER 25 CREATE INDEX correction_by__space__created_at__id IF NOT EXISTS
FOR (n:Correction) ON (n.space, n.created_at, n.id);
