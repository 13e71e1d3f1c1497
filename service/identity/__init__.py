"""Whose voice is this? Pure decisions: evidence and candidates in, decisions out; nothing here opens a file or a database."""
