// How far a meeting's deliveries are taken in is not written where they are counted: who delivers need not wait for it.

CYPHER 25 CREATE CONSTRAINT meeting_work_key__id IF NOT EXISTS
FOR (n:MeetingWork) REQUIRE n.id IS UNIQUE;
