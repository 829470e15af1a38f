"""What a person brings, as settings: arrays, finished weights, captured heads."""
