"""What do people send who mean harm, and does the service stand it? Requests, and a house with something to hide."""
