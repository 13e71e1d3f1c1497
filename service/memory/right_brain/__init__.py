"""The right brain (VoiceMem): what turns show of how their speakers feel, and what of it stays. English words only."""
