"""Search for the weights of a linear model that maximise a measure itself, without a gradient."""
