"""The ranker that chooses for you: inspection of the data, candidates, search, selection, training on all data.

It is a ranker that uses the searches and keys of experiments, so it lives here and not among the rankers, which import
nothing of experiments.
"""
