"""What a fitted ranker predicts with: plain arrays in, scores out."""
