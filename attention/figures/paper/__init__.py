"""Panes and charts on paper, by Matplotlib."""
