// Full text; `readers` stands beside the text so that the gate is part of the search, not a filter after it.

CYPHER 25 CREATE FULLTEXT INDEX message_text IF NOT EXISTS
FOR (n:Message) ON EACH [n.text, n.readers]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words', `fulltext.eventually_consistent`: false}};

CYPHER 25 CREATE FULLTEXT INDEX fact_text IF NOT EXISTS
FOR (n:Fact) ON EACH [n.statement, n.readers]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words', `fulltext.eventually_consistent`: false}};

CYPHER 25 CREATE FULLTEXT INDEX person_name IF NOT EXISTS
FOR (n:Person) ON EACH [n.display_name, n.aliases]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words', `fulltext.eventually_consistent`: false}};
