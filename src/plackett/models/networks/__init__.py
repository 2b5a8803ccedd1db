"""Training of networks: batches, gradients, graphs."""
