"""Why is this document first, and what would lift another one above it?"""

import plackett as pk

data = pk.datasets.make_ranking(n_queries=60, docs_per_query=12, n_features=6, random_state=0)
ranker = pk.LambdaMART(n_estimators=30, num_leaves=8).fit(data)

why = pk.explain(ranker, data, data.qids[0])
ranking = why.ranking()
print(ranking.head(5))
first, third = ranking["document"][0], ranking["document"][2]
print(f"why {first} is above {third}:")
print(why.pair(first, third).head(3))
print(f"what would lift {third} above {first}:")
print(why.to_pass(third, first))
