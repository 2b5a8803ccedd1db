"""Two search systems, one ranking: fuse TREC runs, then ask whether the fused run is significantly better."""

import numpy as np

import plackett as pk

rng = np.random.default_rng(0)
documents = [f"d{i}" for i in range(40)]
qrels, keywords, vectors = {}, {}, {}
for number in range(50):
    relevance = (rng.random(len(documents)) < 0.2).astype(int)
    qrels[f"q{number}"] = dict(zip(documents, relevance.tolist(), strict=True))
    for run in (keywords, vectors):  # two systems that see the truth through different noise
        run[f"q{number}"] = dict(zip(documents, relevance + rng.normal(0, 0.8, len(documents)), strict=True))

fused = pk.fuse({"keywords": keywords, "vectors": vectors}, "rrf")
runs = {"keywords": keywords, "vectors": vectors, "fused": fused}
print(pk.compare_runs(qrels, runs, ["nDCG@10", "AP"], preset="trec"))
