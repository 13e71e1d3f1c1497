"""The demonstration: a household made for the purpose, and what Voicegraph makes of it."""
