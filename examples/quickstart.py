"""Train a ranker, evaluate it, save it, load it."""

import plackett as pk

data = pk.datasets.make_ranking(n_queries=120, docs_per_query=(10, 30), random_state=0)
train, valid, test = pk.split_queries(data, (0.6, 0.2, 0.2), random_state=0)

ranker = pk.LambdaMART(n_estimators=50, early_stopping_rounds=10).fit(train, eval_set=valid)
print(pk.evaluate(test, ranker.predict(test), ["nDCG@10", "AP", "RR"]))

ranker.save("model.plackett")
again = pk.load("model.plackett")
assert (again.predict(test) == ranker.predict(test)).all()
print(f"kept {again.best_iteration_} trees in model.plackett")
