"""Feature tables out of Arrow streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.time_limit import check_time
from plackett._names.optional import optional
from plackett.serve.arrow_limits import check_stream
from plackett.serve.http import RefusedError
from plackett.serve.tables import QID, narrowed, places, whole_ids

if TYPE_CHECKING:
    from plackett.serve.model import ServedModel
    from plackett.serve.settings import Settings


def arrow_table(model: ServedModel, body: bytes, settings: Settings) -> Any:
    """The table of an Arrow stream; one that is too large is refused before it is decoded."""
    pa = optional("pyarrow", "Arrow tables need")
    most_columns = model.n_features + settings.max_other_columns
    check_stream(body, settings.max_body, settings.max_documents, most_columns)
    try:
        with pa.ipc.open_stream(body) as reader:
            table = reader.read_all()
        for name, column in zip(table.column_names, table.columns, strict=True):
            _check_views(column, name, settings)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, EOFError) as error:
        raise RefusedError(400, f"the body is not an Arrow stream: {str(error)[:200]}") from None
    settings.check_size(table.num_rows, model.n_features)  # before its features are
    return table


def _check_views(column: Any, name: str, settings: Settings) -> None:
    """Refuse texts that are parts of each other and together longer than a body may be."""
    types = optional("pyarrow", "Arrow tables need").types
    coded = types.is_dictionary(column.type)
    kind = column.type.value_type if coded else column.type
    size = 0
    for chunk in column.chunks if types.is_string_view(kind) or types.is_binary_view(kind) else ():
        views = np.frombuffer((chunk.dictionary if coded else chunk).buffers()[1] or b"", np.uint32)
        size += int(views[::4].sum(dtype=np.uint64))
    if size > settings.max_body:
        raise RefusedError(413, f"the texts of the column {name[:60]!r} have more than {settings.max_body} bytes")


def arrow_columns(model: ServedModel, table: Any) -> tuple[np.ndarray, Any]:
    """Features in training order, and the query ids if there are any."""
    names = table.column_names
    if len(set(names)) != len(names):
        raise RefusedError(400, "the table has several columns of one name")
    wanted = model.feature_names or [names[place] for place in places(model, names, "the table")[0]]
    missing = [name for name in wanted if name not in set(names)]
    if missing:
        raise RefusedError(
            400, f"the table lacks the column {missing[0][:60]!r}; {model.name} has {model.n_features} features"
        )
    X = np.empty((table.num_rows, model.n_features), np.float32)
    for j, name in enumerate(wanted):
        check_time()
        X[:, j] = _column(model, j, table[name], name)
    has_ids = QID in names and QID not in model.feature_set
    return X, _ids(table[QID]) if has_ids else None


def _column(model: ServedModel, j: int, column: Any, name: str) -> np.ndarray:
    pa = optional("pyarrow", "Arrow tables need")
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        if pa.types.is_boolean(kind) and j in model.codes:
            return _codes(model, j, column)
        if pa.types.is_dictionary(column.type):
            column = column.cast(kind)  # of fixed width
        if pa.types.is_boolean(kind):
            column = column.cast(pa.int8())
        return narrowed(column.to_numpy().astype(np.float64), name)
    if j not in model.codes or not _is_text(kind):
        raise RefusedError(400, f"the column {name[:60]!r} is of type {str(kind)[:60]}; features are numbers")
    return _codes(model, j, column)


def _is_text(kind: Any) -> bool:
    types = optional("pyarrow", "Arrow tables need").types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _codes(model: ServedModel, j: int, column: Any) -> np.ndarray:
    """Codes of categories; unknown ones and null are missing. Each value is looked up once."""
    values, numbers = _numbered(column)
    codes = np.array([model.codes[j].get(value, np.nan) for value in values.to_pylist()] + [np.nan])
    return codes[numbers]


def _ids(column: Any) -> np.ndarray:
    """What tells queries apart: whole numbers as they are, and for texts the number of each distinct one."""
    pa = optional("pyarrow", "Arrow tables need")
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not numbers and not _is_text(kind):
        raise RefusedError(400, f"the column 'qid' is of type {str(kind)[:60]}; ids are texts or whole numbers")
    ids = np.empty(0) if numbers else _numbered(column)[1]
    if column.null_count or (ids < 0).any():
        raise RefusedError(400, "the column 'qid' has missing values")
    if not numbers:
        return ids
    if pa.types.is_dictionary(column.type):
        column = column.cast(kind)
    values = column.to_numpy()
    return whole_ids(values.astype(np.float64) if pa.types.is_floating(kind) else values, "the column 'qid'")


def _numbered(column: Any) -> tuple[Any, np.ndarray]:
    """The distinct values of a column, and for each row the number of its value; −1 is null."""
    pa = optional("pyarrow", "Arrow tables need")
    if not len(column):  # pyarrow cannot encode or join nothing of every type
        return pa.array([], pa.string()), np.empty(0, np.int64)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    array = column.unify_dictionaries().combine_chunks()
    distinct = array.dictionary.dictionary_encode()  # a dictionary may have a value twice
    own, numbers = (
        part.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False) for part in (distinct, array)
    )
    return distinct.dictionary, np.append(own, -1)[numbers]
