"""Tree ensembles as plain arrays, and the kernels that score them."""
