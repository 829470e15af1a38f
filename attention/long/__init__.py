"""The same formula over many thousand tokens: in blocks, with no stage kept."""
