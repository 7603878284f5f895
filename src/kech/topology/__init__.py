"""Topology: what merges when eps or a level grows."""
