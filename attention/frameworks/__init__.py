"""How others answer, and why the numbers of other code differ."""
