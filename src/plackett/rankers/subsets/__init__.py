"""Learners of which documents to choose together."""
