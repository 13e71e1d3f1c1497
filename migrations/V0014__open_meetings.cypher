// Which meetings go on is asked each second, and most are over.

CYPHER 25 CREATE INDEX meeting_by__status IF NOT EXISTS
FOR (n:Meeting) ON (n.status);
