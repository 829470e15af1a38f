"""What a real model did: its attention recorded in the user's own process, and checked."""
