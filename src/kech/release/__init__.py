"""Release: labels joined back to rows, shuffled, written atomically."""
