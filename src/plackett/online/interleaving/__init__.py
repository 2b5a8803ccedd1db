"""One list out of the lists of several rankers, so that clicks on it say which ranker is better."""
