"""When is "last Friday"? Expressions of time found in text and resolved. Pure; used by memory and retrieval."""
