// Who may ask for whom: looked up for each question that somebody asks in another's name.

CYPHER 25 CREATE CONSTRAINT grant_key__id IF NOT EXISTS
FOR (n:Grant) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE INDEX grant_by__space__account IF NOT EXISTS
FOR (n:Grant) ON (n.space, n.account);

CYPHER 25 CREATE INDEX grant_by__space__created_at__id IF NOT EXISTS
FOR (n:Grant) ON (n.space, n.created_at, n.id);

CYPHER 25 CREATE INDEX grant_by__until IF NOT EXISTS
FOR (n:Grant) ON (n.until);
