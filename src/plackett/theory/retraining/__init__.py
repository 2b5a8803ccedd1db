"""Measure stability: retrain with one query, document or pair removed or replaced, and see what changes."""
