"""A spoken multi-party set, written for the project: scenarios, their questions with gold turns, and what measures on them."""
