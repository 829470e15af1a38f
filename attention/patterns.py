"""Queries and keys made by a rule: the public door to samples/patterns.py."""

from attention.samples.patterns import *  # noqa: F403
