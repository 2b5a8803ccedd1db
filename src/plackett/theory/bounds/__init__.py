"""Generalisation bounds, one per file: how far the risk on unseen data can be from the measured one."""
