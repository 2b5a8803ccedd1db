"""The automatic ranker: inspection of the data, candidates, search, selection, training on all data.

It uses the searches and keys of experiments, so it lives here and not among the rankers, which import nothing from
experiments.
"""
