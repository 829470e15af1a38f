"""Finds what printed arrays are, and how they belong together."""
