"""Cuts: ways to part the points into classes of at least k rows, one file each."""
