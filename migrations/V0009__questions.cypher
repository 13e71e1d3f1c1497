// Questions of one asker, the newest first.

CYPHER 25 CREATE INDEX query_by__space__asked_by__created_at IF NOT EXISTS
FOR (n:Query) ON (n.space, n.asked_by, n.created_at);
