// Vector indexes of texts, one for each text embedding space and view; the audience is a filter inside the index.

CYPHER 25 CREATE VECTOR INDEX message_embedding__e5_small_v2_q__turn IF NOT EXISTS
FOR (n:Message) ON (n.embedding__e5_small_v2_q__turn) WITH [n.space, n.audience]
OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CYPHER 25 CREATE VECTOR INDEX message_embedding__e5_small_v2_q__context IF NOT EXISTS
FOR (n:Message) ON (n.embedding__e5_small_v2_q__context) WITH [n.space, n.audience]
OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CYPHER 25 CREATE VECTOR INDEX message_embedding__minilm_l6_v2__turn IF NOT EXISTS
FOR (n:Message) ON (n.embedding__minilm_l6_v2__turn) WITH [n.space, n.audience]
OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CYPHER 25 CREATE VECTOR INDEX message_embedding__minilm_l6_v2__context IF NOT EXISTS
FOR (n:Message) ON (n.embedding__minilm_l6_v2__context) WITH [n.space, n.audience]
OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CYPHER 25 CREATE VECTOR INDEX fact_embedding__e5_small_v2_q__turn IF NOT EXISTS
FOR (n:Fact) ON (n.embedding__e5_small_v2_q__turn) WITH [n.space, n.audience]
OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CYPHER 25 CREATE VECTOR INDEX fact_embedding__e5_small_v2_q__context IF NOT EXISTS
FOR (n:Fact) ON (n.embedding__e5_small_v2_q__context) WITH [n.space, n.audience]
OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CYPHER 25 CREATE VECTOR INDEX fact_embedding__minilm_l6_v2__turn IF NOT EXISTS
FOR (n:Fact) ON (n.embedding__minilm_l6_v2__turn) WITH [n.space, n.audience]
OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CYPHER 25 CREATE VECTOR INDEX fact_embedding__minilm_l6_v2__context IF NOT EXISTS
FOR (n:Fact) ON (n.embedding__minilm_l6_v2__context) WITH [n.space, n.audience]
OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};
