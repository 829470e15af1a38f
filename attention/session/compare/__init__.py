"""Two attentions beside each other: A and B, yours and ours, frameworks."""
