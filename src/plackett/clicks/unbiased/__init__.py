"""Unbiased learning from clicks: propensities, weights, and what corrects a biased sample."""
