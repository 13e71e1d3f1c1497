"""Voicegraph: the memory of who said what to whom."""
