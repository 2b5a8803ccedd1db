"""Stability, measured: train again without, or with another, query, document or pair, and see what changes."""
