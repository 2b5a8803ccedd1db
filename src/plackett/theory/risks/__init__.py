"""Risks: which loss, of what that is drawn, in which view; true losses, known distributions, preferences."""
