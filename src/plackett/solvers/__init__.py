"""Optimisers, quadratic programs and searches that rankers share."""
