"""Learners that choose a set of documents."""
