"""The tables of an experiment: frames, leaderboard, failures, published figures."""
