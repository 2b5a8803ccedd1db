"""Models as treelite files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett._files.atomic import replacing
from plackett._names.optional import optional
from plackett.export._forest import largest_double
from plackett.export._form import form_of

__all__ = ["write_treelite"]


def write_treelite(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    """Write a tree ranker as a treelite checkpoint, for TL2cgen, FIL and Triton (needs ``plackett[export]``).

    Thresholds and leaf values are float64: treelite's own predictor (GTIL) gives the scores of `predict` exactly.

    Parameters
    ----------
    ranker
        A ranker of trees, or a blend of such rankers.
    path
        The file to write.
    feature_names
        Not stored: treelite knows features by number.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=20, random_state=0)
    >>> path = tempfile.mkdtemp() + "/model.tl"
    >>> write_treelite(pk.LambdaMART(n_estimators=3).fit(data), path)
    >>> import treelite
    >>> treelite.Model.deserialize(path).num_tree
    3
    """
    builder_of = optional("treelite", "treelite files need").model_builder
    form = form_of(ranker, feature_names)
    forest = form.forest("treelite")
    builder = builder_of.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=builder_of.Metadata(
            num_feature=len(form.names), task_type="kRegressor", average_tree_output=False, num_target=1,
            num_class=[1], leaf_vector_shape=(1, 1),
        ),
        tree_annotation=builder_of.TreeAnnotation(
            num_tree=forest.n_trees, target_id=[0] * forest.n_trees, class_id=[0] * forest.n_trees
        ),
        postprocessor=builder_of.PostProcessorFunc(name="identity"),
        base_scores=[0.0],
    )  # fmt: skip
    for tree in forest:
        thresholds, number = largest_double(tree.threshold).tolist(), tree.numbers()
        builder.start_tree()
        for node, index in number.items():
            builder.start_node(index)
            if node < 0:
                builder.leaf(tree.value[~node])
            else:
                builder.numerical_test(
                    feature_id=tree.feature[node],
                    threshold=thresholds[node],
                    default_left=tree.missing_left[node],
                    opname="<=",
                    left_child_key=number[tree.left[node]],
                    right_child_key=number[tree.right[node]],
                )
            builder.end_node()
        builder.end_tree()
    with tempfile.TemporaryDirectory() as folder:
        builder.commit().serialize(f"{folder}/model")
        content = Path(folder, "model").read_bytes()
    with replacing(path) as file:
        file.write(content)


def score_treelite(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by treelite's reference predictor."""
    treelite = optional("treelite", "treelite files need")
    model = treelite.Model.deserialize(str(path))
    return treelite.gtil.predict(model, X.astype(np.float64), nthread=1).reshape(len(X), -1)[:, 0]


class TreeliteFormat:
    """treelite."""

    kind: ClassVar[str] = "treelite"
    suffix: ClassVar[str] = ".tl"
    proof: ClassVar[str] = "scored by treelite's GTIL"
    write = staticmethod(write_treelite)
    score = staticmethod(score_treelite)
