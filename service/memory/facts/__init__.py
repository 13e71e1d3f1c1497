"""What do people say that is worth remembering? Turns in, self-contained statements with their evidence out; by rules."""
