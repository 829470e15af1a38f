"""Panes and charts as Plotly's JSON."""
