"""What stages, parts and numbers are called, and how they are written."""
