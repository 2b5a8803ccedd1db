"""Active learning: which documents or queries a ranker would learn most from."""
