// Vector indexes of voices, one for each speaker embedding space; never quantised (recall@1 1.000 instead of 0.987).

CYPHER 25 CREATE VECTOR INDEX person_voiceprint__campplus IF NOT EXISTS
FOR (n:Person) ON (n.voiceprint__campplus) WITH [n.space]
OPTIONS {indexConfig: {`vector.dimensions`: 192, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CYPHER 25 CREATE VECTOR INDEX person_voiceprint__ecapa IF NOT EXISTS
FOR (n:Person) ON (n.voiceprint__ecapa) WITH [n.space]
OPTIONS {indexConfig: {`vector.dimensions`: 192, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CYPHER 25 CREATE VECTOR INDEX person_voiceprint__titanet IF NOT EXISTS
FOR (n:Person) ON (n.voiceprint__titanet) WITH [n.space]
OPTIONS {indexConfig: {`vector.dimensions`: 192, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CYPHER 25 CREATE VECTOR INDEX exemplar_vector__campplus IF NOT EXISTS
FOR (n:Exemplar) ON (n.vector__campplus) WITH [n.space]
OPTIONS {indexConfig: {`vector.dimensions`: 192, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CYPHER 25 CREATE VECTOR INDEX exemplar_vector__ecapa IF NOT EXISTS
FOR (n:Exemplar) ON (n.vector__ecapa) WITH [n.space]
OPTIONS {indexConfig: {`vector.dimensions`: 192, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CYPHER 25 CREATE VECTOR INDEX exemplar_vector__titanet IF NOT EXISTS
FOR (n:Exemplar) ON (n.vector__titanet) WITH [n.space]
OPTIONS {indexConfig: {`vector.dimensions`: 192, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};
