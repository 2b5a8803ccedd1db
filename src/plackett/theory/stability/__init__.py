"""How much a learned function changes with one query, document or pair of its training data: measured, proved."""
