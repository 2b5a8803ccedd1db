"""Strategies that choose documents to judge from the runs of several systems."""
