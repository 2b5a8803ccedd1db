"""Rankers that learn what makes a list diverse."""
