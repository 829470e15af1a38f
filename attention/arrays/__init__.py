"""The user's arguments as NumPy arrays: converted, checked, cut into blocks."""
