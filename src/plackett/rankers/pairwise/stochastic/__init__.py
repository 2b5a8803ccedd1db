"""Learning from examples drawn one at a time: how they are drawn (`loops`), and what a step does (a file per learner).

`alias` draws from a weighted list in constant time, `plackett.solvers.training_vectors` makes the vector of a pair or
of a document, `descent` has the weights that the learners move, `learners` lists them, and `streaming` is for files.
"""
