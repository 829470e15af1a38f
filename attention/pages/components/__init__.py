"""Components that run in the browser: board, maps, typed text, zoom."""
