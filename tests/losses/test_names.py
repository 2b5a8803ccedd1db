"""What losses are called."""

import plackett as pk


def test_a_class_has_the_name_of_its_loss():
    """`Loss` is appended where a ranker has the same name, so that no class is called like another."""
    rankers = pk.rankers()
    for name, loss in pk.losses().items():
        assert loss.__name__ == (name + "Loss" if name in rankers else name)
