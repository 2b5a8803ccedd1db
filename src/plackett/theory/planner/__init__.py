"""How many queries to judge, and how many documents of each: by a bound, by simulation, by a pilot."""
