"""Audit: what a table or a release gives away, and what it is still good for."""
