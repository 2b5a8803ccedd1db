"""Rankers that learn from the clicks on what they show."""
