"""Probability models of orders: Plackett–Luce, Mallows, Bradley–Terry, Thurstone."""
