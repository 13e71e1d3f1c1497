// Sessions by the transcript beside their recording, so that the same words are not written twice.

CYPHER 25 CREATE INDEX session_by__space__transcript IF NOT EXISTS
FOR (n:Session) ON (n.space, n.transcript);
