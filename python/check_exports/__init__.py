"""Checks that the files `headroom export` writes mean, to the libraries that load them, what the plan says."""
