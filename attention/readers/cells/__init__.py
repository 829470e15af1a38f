"""One number, one label, one row: what is in an entry."""
