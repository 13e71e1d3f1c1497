// Sessions by the one whose place they take: asked for at every erasure, which must not bring that back.

CYPHER 25 CREATE INDEX session_by__space__replaces IF NOT EXISTS
FOR (n:Session) ON (n.space, n.replaces);
