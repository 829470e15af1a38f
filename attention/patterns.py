"""Queries and keys made by a rule: the public door to samples/patterns.py."""

from attention.samples.patterns import PATTERNS, Made, Pattern, made

__all__ = ["PATTERNS", "Made", "Pattern", "made"]
