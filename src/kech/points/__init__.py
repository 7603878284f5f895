"""Points: distinct code tuples with weights; partitions of them into classes."""
