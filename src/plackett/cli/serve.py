"""``plackett serve``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

_SECURITY, _LIMITS = "Security", "Limits"


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL…",
            help="Model files, NAME=FILE, folders of them (FOLDER/name.plackett, versions in FOLDER/name/2.plackett), "
            "or a saved application or search pipeline.",
        ),
    ],
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 is all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8080,
    uds: Annotated[Path | None, typer.Option(help="Unix socket to listen on instead.")] = None,
    reload_interval: Annotated[
        float, typer.Option(help="Seconds between two looks at the model files; 0 never looks again.", min=0)
    ] = 1.0,
    workers: Annotated[int, typer.Option(help="Processes that share the port, one per core.", min=1)] = 1,
    threads: Annotated[int, typer.Option(help="Threads for large requests and explanations.", min=1)] = 2,
    drain: Annotated[float, typer.Option(help="Seconds to keep answering after SIGTERM.", min=0)] = 2.0,
    access_log: Annotated[bool, typer.Option("--access-log", help="Log every request, not only failures.")] = False,
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            help="File with accepted API keys, one per line. The variable PLACKETT_API_KEY can hold one, too.",
            rich_help_panel=_SECURITY,
        ),
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="Certificate (PEM).", rich_help_panel=_SECURITY)] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its key (PEM).", rich_help_panel=_SECURITY)] = None,
    max_body: Annotated[
        float, typer.Option(help="Largest body of a request, in MiB.", min=0.001, rich_help_panel=_LIMITS)
    ] = 16,
    max_documents: Annotated[
        int, typer.Option(help="Most documents in a request.", min=1, rich_help_panel=_LIMITS)
    ] = 100_000,
    max_list: Annotated[
        int,
        typer.Option(
            help="Most documents in a list, for a model that looks at the whole list.", min=1, rich_help_panel=_LIMITS
        ),
    ] = 5_000,
    body_timeout: Annotated[
        float, typer.Option(help="Seconds for a body to arrive.", min=0.1, rich_help_panel=_LIMITS)
    ] = 10.0,
    score_timeout: Annotated[
        float, typer.Option(help="Seconds for a large request.", min=0.1, rich_help_panel=_LIMITS)
    ] = 30.0,
    max_connections: Annotated[
        int, typer.Option(help="Most connections of a process at a time.", min=1, rich_help_panel=_LIMITS)
    ] = 1_000,
) -> None:
    """Serve saved models over HTTP: Open Inference Protocol, MLflow, /rank, Arrow, Prometheus; see /docs."""
    from plackett.serve.application import application
    from plackett.serve.server import serve as run
    from plackett.serve.settings import Settings
    from plackett.serve.sources import sources

    for path, option in ((api_key_file, "--api-key-file"), (tls_cert, "--tls-cert"), (tls_key, "--tls-key")):
        if path is not None and not path.is_file():
            raise typer.BadParameter(f"{path} is not a file", param_hint=option)
    if (tls_cert is None) != (tls_key is None):
        raise typer.BadParameter("give --tls-cert and --tls-key together", param_hint="--tls-cert")
    given = sources(models)
    if not given:
        raise typer.BadParameter(f"no .plackett files in {', '.join(models)}", param_hint="MODEL")
    for source in given:
        if not source.path.is_file():
            raise typer.BadParameter(f"{source.path} is not a file", param_hint="MODEL")
    settings = Settings(
        max_body=int(max_body * 2**20),
        max_documents=max_documents,
        max_list=max_list,
        body_timeout=body_timeout,
        score_timeout=score_timeout,
        api_keys=_keys(api_key_file),
        reload_interval=reload_interval,
        threads=threads,
        access_log=access_log,
    )
    run(
        application(models, settings),
        host=host,
        port=port,
        uds=None if uds is None else str(uds),
        tls_cert=None if tls_cert is None else str(tls_cert),
        tls_key=None if tls_key is None else str(tls_key),
        drain=drain,
        max_connections=max_connections,
        workers=workers,
    )


def _keys(path: Path | None) -> tuple[str, ...]:
    lines = [] if path is None else path.read_text("utf-8").splitlines()
    keys = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if path is not None and not keys:
        raise typer.BadParameter(f"{path} has no key", param_hint="--api-key-file")
    own = os.environ.get("PLACKETT_API_KEY", "").strip()
    return (*keys, own) if own else tuple(keys)
