"""Bounds, stability, consistency: numbers for what is proved about the methods."""
