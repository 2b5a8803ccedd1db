"""LETOR / SVMlight text: ``label qid:ID 1:value 2:value … # comment``.

`read` has the readers and `write` the writer. Behind them, from the bytes upwards: `words` (eight bytes at a time),
`floats` and `float_text` (decimal numbers, exactly), `tokens`, `parse` (one row after another), `parts` (one thread's
share of a block), `block` (some megabytes), `dataset` (blocks put together), `errors` (where and what).
"""

from plackett.data.letor.comments import LetorFields, letor_comment_fields
from plackett.data.letor.read import read_letor, read_letor_chunks
from plackett.data.letor.write import write_letor

__all__ = ["LetorFields", "letor_comment_fields", "read_letor", "read_letor_chunks", "write_letor"]
