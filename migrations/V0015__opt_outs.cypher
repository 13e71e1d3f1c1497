// Somebody who refused to be known is asked for at every batch of turns, and outlives their erasure.

CYPHER 25 CREATE CONSTRAINT opt_out_key__id IF NOT EXISTS
FOR (n:OptOut) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE INDEX opt_out_by__space_kind IF NOT EXISTS
FOR (n:OptOut) ON (n.space, n.kind);

CYPHER 25 CREATE INDEX consent_by__space_state IF NOT EXISTS
FOR (n:Consent) ON (n.space, n.state);
