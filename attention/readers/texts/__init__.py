"""Arrays out of texts, each kind by its reader."""
