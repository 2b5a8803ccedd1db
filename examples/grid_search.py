"""Rankers in scikit-learn: a pipeline with query-wise scaling, tuned by a grid search that never cuts a query."""

import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import plackett as pk

data = pk.datasets.make_ranking(n_queries=60, docs_per_query=10, n_features=6, random_state=0)

with sklearn.config_context(enable_metadata_routing=True):
    search = GridSearchCV(
        make_pipeline(pk.QueryNormalizer("zscore"), pk.ListNet()),
        {"listnet__alpha": [1e-4, 1e-2, 1.0], "querynormalizer__method": ["zscore", "minmax"]},
        cv=pk.QueryKFold(3),
        scoring=pk.scorer("nDCG@10"),
    )
    search.fit(data.X, data.y, qid=data.qid)

print("best settings:", search.best_params_)
print(f"nDCG@10 in cross-validation: {search.best_score_:.4f}")
