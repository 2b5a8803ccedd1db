"""How to spend judgements: how many queries, how many documents of each."""
