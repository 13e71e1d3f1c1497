"""What is remembered of a conversation, decided purely: who spoke to whom, who was there, who may read it."""
