"""Inequalities between losses and measures."""
