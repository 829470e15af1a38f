"""One item and head of a trace, and what there is to say of each of its cells."""
