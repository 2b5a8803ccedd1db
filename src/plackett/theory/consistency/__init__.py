"""Consistency: does the minimiser of a surrogate minimise the true loss? Decided by computation on small spaces."""
