"""Numbers made by a rule or a seed: weights, word vectors, patterns, samples."""
