"""Compiled loops, and what they share.

To write one: `kernel` (decorator, templates, threads over queries), `scratch` (memory), `sort`, `vector_math` (exp, log
and relatives that vectorise), `randomness` (draws by number), `fenwick` (sums over levels).

How they are compiled and kept: `quiet_compiler` (Numba's, without the collector), `cache` (one checked file per kernel
and types), `folder` (where these files lie; needs no Numba).

How many threads: `cores` (this process), `openmp` (LightGBM), `torch_threads` (PyTorch).
"""
