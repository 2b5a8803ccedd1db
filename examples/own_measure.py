"""A measure of your own: one function of the labels in ranked order. It works wherever a measure's name does."""

import plackett as pk


@pk.measure
def first_page_is_clean(labels, k=5):
    """1 if nothing among the first k is irrelevant."""
    return 1.0 if labels[:k].min() > 0 else 0.0


data = pk.datasets.make_ranking(n_queries=80, docs_per_query=30, random_state=1)
train, test = pk.split_queries(data, (0.7, 0.3), random_state=1)
ranker = pk.ListNet().fit(train)
print(pk.evaluate(test, ranker.predict(test), ["first_page_is_clean@3", "first_page_is_clean@5", "nDCG@5"]))
