"""What to train on: pairs, documents and queries to keep, weights against bias, and when more data stop helping."""
