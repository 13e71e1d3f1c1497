"""Which messages answer a question, and how are they shown? Pure: evidence in, a choice out."""
