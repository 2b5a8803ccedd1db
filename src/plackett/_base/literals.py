"""Calls written as text, such as ``AP(rel=2)``: Python's grammar for names and literals, and nothing that runs."""

from __future__ import annotations

import ast
from typing import Any

#: What Python raises for text that is not a literal, including one nested too deeply.
NOT_LITERAL = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)


def call(text: str) -> tuple[str, dict[str, Any]]:
    """Dotted name and keyword arguments of a call; the brackets may be missing. A ValueError for anything else.

    >>> call("AP(rel=2)"), call("sklearn.linear_model.Ridge")
    (('AP', {'rel': 2}), ('sklearn.linear_model.Ridge', {}))
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        keywords: list[ast.keyword] = []
        if isinstance(tree, ast.Call):
            if tree.args or any(keyword.arg is None for keyword in tree.keywords):
                raise ValueError("arguments must be given as name=value")
            keywords = tree.keywords
            tree = tree.func
        arguments = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in keywords}
        if len(arguments) < len(keywords):
            raise ValueError("an argument is given twice")
        return _dotted(tree), arguments
    except NOT_LITERAL as error:
        raise ValueError(f"not a name with literal arguments: {error}") from None


def _dotted(tree: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(tree, ast.Attribute):
        parts.append(tree.attr)
        tree = tree.value
    if not isinstance(tree, ast.Name):
        raise ValueError("no name")
    return ".".join([tree.id, *reversed(parts)])
