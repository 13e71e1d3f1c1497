// Facts of a session; images shown with messages; captions become searchable beside the words.

CYPHER 25 CREATE INDEX fact_by__session_id IF NOT EXISTS
FOR (n:Fact) ON (n.session_id);

CYPHER 25 CREATE CONSTRAINT image_key__id IF NOT EXISTS
FOR (n:Image) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE VECTOR INDEX image_embedding__clip_vit_b32 IF NOT EXISTS
FOR (n:Image) ON (n.embedding__clip_vit_b32) WITH [n.space]
OPTIONS {indexConfig: {`vector.dimensions`: 512, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CYPHER 25 DROP INDEX message_text IF EXISTS;

CYPHER 25 CREATE FULLTEXT INDEX message_text IF NOT EXISTS
FOR (n:Message) ON EACH [n.text, n.captions, n.readers]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words', `fulltext.eventually_consistent`: false}};
