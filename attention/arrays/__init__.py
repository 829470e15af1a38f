"""What a person hands over as NumPy's arrays: converted, checked, cut into blocks."""
