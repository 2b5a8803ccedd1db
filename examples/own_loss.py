"""A loss of your own: one function for one query. It trains linear models and trees alike."""

import numpy as np

import plackett as pk


@pk.loss(convex=True)
def graded_pairs(scores, labels, gradient, curvature, power=1.0):
    """Logistic pair loss times a power of the difference of the labels."""
    total = 0.0
    for u in range(scores.size):
        for v in range(scores.size):
            if labels[u] > labels[v] >= 0:  # below 0 is unjudged
                weight = (labels[u] - labels[v]) ** power
                wrong = 1.0 / (1.0 + np.exp(scores[u] - scores[v]))
                total += weight * np.log1p(np.exp(scores[v] - scores[u]))
                gradient[u] -= weight * wrong
                gradient[v] += weight * wrong
                curvature[u] += weight * wrong * (1.0 - wrong)
                curvature[v] += weight * wrong * (1.0 - wrong)
    return total


data = pk.datasets.make_ranking(n_queries=80, docs_per_query=12, n_features=6, random_state=0)
train, test = pk.split_queries(data, (0.7, 0.3), random_state=0)
for model in (pk.Linear(), pk.Trees(n_estimators=20)):
    ranker = pk.GradientRanker(loss=graded_pairs.replace(power=2.0), model=model).fit(train)
    value = pk.evaluate(test, ranker.predict(test), "nDCG@10").mean["nDCG@10"]
    print(f"{type(model).__name__:8} nDCG@10 {value:.4f}")
