"""What a real model did: its attention recorded in the person's own process, and checked."""
