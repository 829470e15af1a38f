"""What runs in a person's process beside their model; needs torch."""
