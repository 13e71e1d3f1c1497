// Turns whose feelings were read, by whose they are: what goes when that person's consent goes.

CYPHER 25 CREATE INDEX message_by__affect_of IF NOT EXISTS
FOR (n:Message) ON (n.affect_of);
