"""Heatmaps as they are true: neutral records, and the bytes of the board."""
