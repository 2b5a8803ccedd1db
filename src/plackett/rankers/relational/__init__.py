"""Relational rankers: the score of a document depends on the documents it is related to."""
