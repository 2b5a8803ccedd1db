"""A cache of LightGBM's bins of a mapped dataset, in a file next to the data, so that later trainings can reuse them.

The file name contains hashes of the data and of everything that determines the bins, and the file ends in a signature:
LightGBM trusts what it reads, so a file is used only if this user's plackett wrote exactly these bytes. A cache that
cannot be written, is damaged, or belongs to other data or another user is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import logging
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from glob import escape
from pathlib import Path
from typing import IO, Any

import numpy as np

from plackett._files.atomic import replacing
from plackett._kernels.folder import cache_root
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import is_large, source_of

#: Setting this variable to 0 switches the cache off.
SWITCH = "PLACKETT_BIN_CACHE"
_FORMAT = b"plackett bins 1\n"
_SIGNATURE = hashlib.sha256().digest_size
_BLOCK = 1 << 22
#: Parameters that do not change the bins.
_NOT_OF_BINS = {
    *("learning_rate", "num_leaves", "max_depth", "min_data_in_leaf", "min_sum_hessian_in_leaf"),
    *("lambda_l1", "lambda_l2", "feature_fraction", "feature_fraction_bynode", "boosting", "num_threads"),
    *("deterministic", "force_col_wise", "force_row_wise", "verbosity", "metric", "num_class", "objective"),
    *("monotone_constraints", "cegb_penalty_feature_coupled"),
    *("use_quantized_grad", "num_grad_quant_bins", "quant_train_renew_leaf", "stochastic_rounding"),
}
_log = logging.getLogger("plackett.models")


def cached_bins(
    lgb: Any, data: RankingDataset, parameters: dict[str, Any], categorical: Any, make: Callable[[], Any]
) -> Any:
    """The data as a LightGBM dataset, from the cache if possible; otherwise made now and cached.

    ``make`` is called if the cache does not have it, or cannot be used.
    """
    path = cache_file(lgb, data, parameters, categorical)
    if path is None:
        return make()
    bins = _read(lgb, path, data, parameters)
    if bins is None:
        bins = make()
        _write(lgb, bins, path, data)
    return bins


def cache_file(lgb: Any, data: RankingDataset, parameters: dict[str, Any], categorical: Any) -> Path | None:
    """Where the bins of these data are cached; None if they are not."""
    source = source_of(data.X)
    if source is None or not is_large(data.X) or os.environ.get(SWITCH) == "0" or _secret() is None:
        return None
    content = hashlib.sha256(np.ascontiguousarray(data.X).data)
    content.update(np.ascontiguousarray(data.offsets).data)
    of_bins = {name: value for name, value in parameters.items() if name not in _NOT_OF_BINS and not callable(value)}
    settings = [lgb.__version__, list(categorical or []), sorted(of_bins.items())]
    binning = hashlib.sha256(json.dumps(settings, default=str).encode())
    name = f"{Path(source).name}.{content.hexdigest()[:16]}-{binning.hexdigest()[:16]}.bins"
    return Path(source).with_name(name)


def _secret() -> bytes | None:
    """What files are signed with, known to this user only."""
    root = cache_root()
    if root is None:
        return None
    path = root.parent / "bins.key"
    if not path.exists():
        with contextlib.suppress(OSError):
            with tempfile.NamedTemporaryFile(dir=root.parent, delete=False) as file:  # readable by its owner only
                file.write(secrets.token_bytes(32))
            try:
                os.link(file.name, path)  # fails if another process was faster
            finally:
                os.unlink(file.name)
    try:
        key = path.read_bytes()
    except OSError:
        return None
    return key if len(key) == 32 else None


def _signed(file: IO[bytes], size: int, name: str, to: IO[bytes] | None = None) -> bytes:
    """The signature of the first bytes of a file with this name, which are copied at the same time."""
    key = _secret()
    assert key is not None
    signature = hmac.new(key, _FORMAT + name.encode(), "sha256")
    while size:
        block = file.read(min(size, _BLOCK))
        if not block:
            raise OSError("the file ends too early")
        signature.update(block)
        if to is not None:
            to.write(block)
        size -= len(block)
    return signature.digest()


def _read(lgb: Any, path: Path, data: RankingDataset, parameters: dict[str, Any]) -> Any:
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size - _SIGNATURE
            if size <= 0 or not hmac.compare_digest(_signed(file, size, path.name), file.read()):
                _log.info("%s is damaged or was written by somebody else, and is not used", path)
                return None
        made = lgb.Dataset(
            str(path), params={k: v for k, v in parameters.items() if not callable(v)}, free_raw_data=False
        ).construct()
        if (made.num_data(), made.num_feature()) != data.X.shape:
            return None
    except (OSError, lgb.basic.LightGBMError) as error:
        if not isinstance(error, FileNotFoundError):
            _log.info("%s is not used: %s", path, error)
        return None
    _log.info("bins from %s", path)
    return made


def _write(lgb: Any, made: Any, path: Path, data: RankingDataset) -> None:
    made.construct()
    try:
        free_bytes = min(shutil.disk_usage(folder).free for folder in (path.parent, tempfile.gettempdir()))
        if free_bytes < 2 * data.X.nbytes:
            _log.info("%s is not written: the disk is nearly full", path)
            return
        with tempfile.TemporaryDirectory(prefix="plackett-bins-") as folder:
            plain = Path(folder) / "bins"
            made.save_binary(plain)
            with open(plain, "rb") as file, replacing(path) as target:
                target.write(_signed(file, plain.stat().st_size, path.name, target))
        data_part = path.name.rsplit("-", 1)[0]
        source = data_part.rsplit(".", 1)[0]
        for other in path.parent.glob(f"{escape(source)}.????????????????-????????????????.bins"):
            if not other.name.startswith(f"{data_part}-"):  # of data that were replaced
                other.unlink(missing_ok=True)
    except (OSError, lgb.basic.LightGBMError) as error:
        _log.info("%s is not written: %s", path, error)
