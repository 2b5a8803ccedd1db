"""The workbench as an ASGI application: the page, its files, and what it asks."""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from plackett._base.errors import DataError, LossError, MeasureError
from plackett._base.version import __version__
from plackett._names.optional import optional
from plackett.serve.http import RefusedError, to_json
from plackett.workbench.api import evaluating, judging, searching, training
from plackett.workbench.api.parameters import TEXTS, Action
from plackett.workbench.bench import Workbench
from plackett.workbench.guard import REPORT_POLICY, Guard

__all__ = ["application"]

ACTIONS: list[Action] = [*searching.ACTIONS, *judging.ACTIONS, *evaluating.ACTIONS, *training.ACTIONS]
#: Largest body of a request, in bytes.
_MOST = 64 << 20
_SCRIPT = "text/javascript; charset=utf-8"


def application(bench: Workbench, *, token: str | None = None, hosts: tuple[str, ...] = ()) -> Any:
    """The workbench as an ASGI application, for uvicorn or any other ASGI server.

    Parameters
    ----------
    bench
        Source and store.
    token
        What every request must bring. Without one, only requests to a loopback name are answered.
    hosts
        More names that requests may be addressed to.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> from plackett.workbench.sources.index import IndexSource
    >>> from plackett.workbench.store import Store
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "a blue sky"})])
    >>> app = application(Workbench(IndexSource(index), Store()))
    """
    optional("starlette", "the workbench needs")
    optional("orjson", "the workbench needs")
    from starlette.applications import Starlette
    from starlette.routing import Route

    routes = [
        Route("/", _file("index.html"), methods=["GET"]),
        Route("/page/{name}", _page, methods=["GET"]),
        Route("/favicon.ico", _file("icon.svg"), methods=["GET"]),
        Route("/openapi.json", _openapi, methods=["GET"]),
        Route("/export/{form}", _export(bench), methods=["GET"]),
        Route("/reports/{number:int}", _report(bench), methods=["GET"]),
        *(Route(one.path, _answer(bench, one), methods=[one.method]) for one in ACTIONS),
    ]
    return Guard(Starlette(routes=routes), token, hosts)


def _answer(bench: Workbench, action: Action) -> Callable[[Any], Awaitable[Any]]:
    """An endpoint that reads the parameters and calls the function in a thread, so that nothing blocks."""

    async def endpoint(request: Any) -> Any:
        from starlette.concurrency import run_in_threadpool

        try:
            if action.method == "GET":
                arguments = action.read(_query(action, request), text=True)
            else:
                arguments = action.read(await _body(request), text=False)
            answer = await run_in_threadpool(action.function, bench, **arguments)
        except Exception as error:
            return _refused(error)
        return _json(answer)

    return endpoint


def _refused(error: Exception) -> Any:
    """What the page is told: our own errors have a reason; others are bugs and are passed on to the server's log."""
    if isinstance(error, RefusedError):
        return _json({"error": error.reason}, error.status)
    if isinstance(error, (DataError, MeasureError, LossError)):
        return _json({"error": str(error)}, 422)
    raise error


def _query(action: Action, request: Any) -> dict[str, Any]:
    """Parameters of the address; those that are lists may be repeated."""
    parameters: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        if name in action.parameters and action.parameters[name][0].kind is TEXTS:
            parameters.setdefault(name, []).append(value)
        elif name == "token":
            continue
        elif name in parameters:
            raise RefusedError(422, f"{name} is given twice")
        else:
            parameters[name] = value
    return parameters


async def _body(request: Any) -> dict[str, Any]:
    import orjson

    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > _MOST:
            raise RefusedError(413, f"the body has more than {_MOST} bytes, the most that is accepted")
        parts.append(part)
    try:
        body = orjson.loads(b"".join(parts))
    except ValueError as error:
        raise RefusedError(400, f"the body is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise RefusedError(422, "the body must be a JSON object")
    return body


def _json(value: Any, status: int = 200) -> Any:
    from starlette.responses import Response

    return Response(to_json(value), status, media_type="application/json")


# -------------------------------------------------------------------------------------------------------------- files


def _read(name: str) -> tuple[bytes, str] | None:
    """A file of the page and its type."""
    folder = files("plackett.workbench").joinpath("page")
    if not name.replace("-", "").replace(".", "").isalnum() or name.startswith("."):
        return None
    path = folder.joinpath(name)
    if not path.is_file():
        return None
    kind = _SCRIPT if name.endswith(".js") else mimetypes.guess_type(name)[0] or "application/octet-stream"
    return path.read_bytes(), kind


def _file(name: str) -> Callable[[Any], Awaitable[Any]]:
    async def endpoint(request: Any) -> Any:
        from starlette.responses import Response

        content = _read(name)
        if content is None:
            return _json({"error": "there is nothing here"}, 404)
        return Response(content[0], media_type=content[1], headers={"cache-control": "no-cache"})

    return endpoint


async def _page(request: Any) -> Any:
    return await _file(request.path_params["name"])(request)


def _export(bench: Workbench) -> Callable[[Any], Awaitable[Any]]:
    async def endpoint(request: Any) -> Any:
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import Response

        from plackett.workbench.exchange import EXPORTS

        form = request.path_params["form"]
        if form not in EXPORTS:
            return _json({"error": f"there is no export {form!r:.40}; there are {', '.join(EXPORTS)}"}, 404)
        rater = request.query_params.get("rater") or None
        try:
            text, kind = await run_in_threadpool(EXPORTS[form], bench, rater)
        except Exception as error:
            return _refused(error)
        ending = {"qrels": "qrels", "csv": "csv", "letor": "letor.txt"}[form]
        disposition = {"content-disposition": f'attachment; filename="judgements.{ending}"'}
        return Response(text.encode("utf-8", "replace"), media_type=kind, headers=disposition)

    return endpoint


def _report(bench: Workbench) -> Callable[[Any], Awaitable[Any]]:
    async def endpoint(request: Any) -> Any:
        from starlette.responses import Response

        job = bench.jobs.all.get(request.path_params["number"])
        path = None if job is None else job.folder / "report" / "report.html"
        if path is None or not path.is_file():
            return _json({"error": "there is no such report"}, 404)
        headers = {"content-security-policy": REPORT_POLICY}
        return Response(path.read_bytes(), media_type="text/html; charset=utf-8", headers=headers)

    return endpoint


# -------------------------------------------------------------------------------------------------------- description


async def _openapi(request: Any) -> Any:
    return _json(openapi())


def openapi() -> dict[str, Any]:
    """The OpenAPI description of the requests that the page makes."""
    import inspect

    paths: dict[str, Any] = {}
    answers = {
        "200": {"description": "the answer", "content": {"application/json": {"schema": {"type": "object"}}}},
        **{
            str(status): {"description": reason, "content": {"application/json": {"schema": _ERROR}}}
            for status, reason in (
                (400, "not JSON"), (401, "no token"), (403, "from another site"), (404, "not found"),
                (413, "too large"), (415, "not JSON"), (421, "another host"), (422, "the reason is in the error"),
            )
        },
    }  # fmt: skip
    for one in ACTIONS:
        entry: dict[str, Any] = {"summary": (one.function.__doc__ or "").split("\n")[0], "responses": answers}
        required = [name for name, (_, default) in one.parameters.items() if default is inspect.Parameter.empty]
        schemas = {name: param.schema() for name, (param, _) in one.parameters.items()}
        if one.method == "GET":
            entry["parameters"] = [
                {"name": name, "in": "query", "required": name in required, "schema": schema}
                for name, schema in schemas.items()
            ]
        else:
            schema = {"type": "object", "properties": schemas, "required": required, "additionalProperties": False}
            entry["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
        paths.setdefault(one.path, {})[one.method.lower()] = entry
    return {"openapi": "3.1.0", "info": {"title": "plackett workbench", "version": __version__}, "paths": paths}


_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
