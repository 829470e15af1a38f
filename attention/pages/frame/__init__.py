"""What all pages stand in: state, address, menu, style, the store of the browser."""
