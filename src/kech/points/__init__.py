"""Points: distinct code tuples with their rows; partitions of the points into classes."""
