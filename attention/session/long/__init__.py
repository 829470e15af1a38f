"""Long context: what it is made of, and its work beside the page."""
