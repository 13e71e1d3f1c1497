// What happened, and whom it is to be told: the newest first, those due, and what has had its time.

CYPHER 25 CREATE CONSTRAINT event_key__id IF NOT EXISTS
FOR (n:Event) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE INDEX event_by__space__created_at__id IF NOT EXISTS
FOR (n:Event) ON (n.space, n.created_at, n.id);

CYPHER 25 CREATE INDEX event_by__created_at IF NOT EXISTS
FOR (n:Event) ON (n.created_at);

CYPHER 25 CREATE CONSTRAINT webhook_key__id IF NOT EXISTS
FOR (n:Webhook) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE INDEX webhook_by__space__created_at__id IF NOT EXISTS
FOR (n:Webhook) ON (n.space, n.created_at, n.id);

CYPHER 25 CREATE INDEX webhook_by__status IF NOT EXISTS
FOR (n:Webhook) ON (n.status);

CYPHER 25 CREATE CONSTRAINT webhook_delivery_key__id IF NOT EXISTS
FOR (n:WebhookDelivery) REQUIRE n.id IS UNIQUE;

CYPHER 25 CREATE INDEX webhook_delivery_by__webhook_id__status__next_at IF NOT EXISTS
FOR (n:WebhookDelivery) ON (n.webhook_id, n.status, n.next_at);

CYPHER 25 CREATE INDEX webhook_delivery_by__space__created_at__id IF NOT EXISTS
FOR (n:WebhookDelivery) ON (n.space, n.created_at, n.id);

CYPHER 25 CREATE INDEX webhook_delivery_by__created_at IF NOT EXISTS
FOR (n:WebhookDelivery) ON (n.created_at);
