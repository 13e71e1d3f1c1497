"""The left brain: what is spoken of, by which themes, and what goes together."""
