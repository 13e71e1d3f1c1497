"""Everything that speaks Cypher, and nothing else does."""
