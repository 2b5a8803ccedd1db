"""Candidates and features from a search engine."""
