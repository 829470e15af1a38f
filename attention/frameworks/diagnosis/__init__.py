"""Why the numbers of other code differ: the known mistakes, tried on the same inputs."""
