"""The formula, with what layers add to it: from Q, K and V to a trace."""
