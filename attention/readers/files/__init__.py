"""Arrays out of files of bytes."""
