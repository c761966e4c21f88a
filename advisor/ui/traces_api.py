"""Files over HTTP: ``POST /api/traces`` takes one as a stream and has it read.

The body goes to a file without a name in the data directory, never to memory, and is gone when it
has been read or the connection breaks. Answers are JSON; errors are ``{"error": {…}}`` as those
of the command line.
"""

from __future__ import annotations

import asyncio
import tempfile
from http import HTTPStatus
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from advisor.core.errors import AdvisorError, InvalidInputError
from advisor.core.paths import data_dir
from advisor.traces import DEFAULT_LIMITS
from advisor.ui.reads import READS, Read

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.datastructures import Headers

PATH: Final = "/api/traces"
# What files of traces and logs are sent as. A form of a page is none of them.
CONTENT_TYPES: Final = frozenset(
    ("", "application/octet-stream", "application/json", "application/gzip", "application/x-gzip",
     "application/zip", "application/x-tar", "application/x-sqlite3", "application/vnd.sqlite3",
     "application/x-ndjson", "text/plain", "text/csv")
)  # fmt: skip
MOST_NAME: Final = 255
MOST_WAITING: Final = 16
MOST_WAIT_S: Final = 60.0
USUAL_WAIT_S: Final = 2.0
_WRITE_BYTES: Final = 2**20
_SILENT_S: Final = 60.0
_LOOK_S: Final = 0.02
_MOST_DIGITS: Final = 9


class _Refusal(Exception):  # noqa: N818 - an answer, not a mistake
    """An answer with an error."""

    def __init__(self, status: HTTPStatus, what: str, todo: str, where: str = PATH) -> None:
        super().__init__(what)
        self.status = status
        self.error: AdvisorError = InvalidInputError(what, where=where, todo=todo)


def trace_routes(most_bytes: int = DEFAULT_LIMITS.content_bytes) -> list[Route]:
    """Return the routes of files over HTTP.

    Parameters
    ----------
    most_bytes : int
        Largest body [bytes].
    """

    async def post(request: Request) -> Response:
        return await _post(request, most_bytes)

    return [
        Route(PATH, _refusing(post), methods=["POST"]),
        Route(PATH, _refusing(_other), methods=["GET", "PUT", "PATCH", "DELETE"]),
        Route(f"{PATH}/{{key}}", _refusing(_get), methods=["GET"]),
        Route(f"{PATH}/{{key}}", _refusing(_delete), methods=["DELETE"]),
    ]


def _refusing(
    answer: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """Have what is refused answered as JSON."""

    async def answered(request: Request) -> Response:
        try:
            _check_origin(request.headers)
            return await answer(request)
        except _Refusal as refusal:
            status, error = refusal.status, refusal.error
        except AdvisorError as problem:  # of the data directory
            status, error = HTTPStatus.INTERNAL_SERVER_ERROR, problem
        said = {"error": error.to_dict()}
        return JSONResponse(said, status, headers={"Connection": "close"})

    return answered


def _check_origin(headers: Headers) -> None:
    """Refuse what another page in the user's browser sends."""
    origin = headers.get("origin")
    other = origin is not None and urlsplit(origin).netloc != headers.get("host")
    if other or headers.get("sec-fetch-site") == "cross-site":
        raise _Refusal(HTTPStatus.FORBIDDEN, "the request comes from another site.",
                       "Send it from the advisor's own pages, or from a program.")  # fmt: skip


async def _post(request: Request, most_bytes: int) -> Response:
    name = _name(request.query_params.get("name", ""))
    wait_s = _seconds(request.query_params.get("wait"))
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in CONTENT_TYPES:
        raise _Refusal(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"a body of the type {kind[:60]} is not read.",
            "Send the file itself: curl -T FILE -X POST "
            f"'http://…{PATH}?name=FILE'.", "Content-Type",
        )  # fmt: skip
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most_bytes:
        raise _too_large(most_bytes)
    if READS.waiting >= MOST_WAITING:
        raise _Refusal(HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_WAITING} files wait to be read.",
                       "Send it again in a minute.")  # fmt: skip
    with READS.coming():
        file = tempfile.TemporaryFile(dir=data_dir())  # noqa: SIM115 - whoever reads it closes it
        try:
            size_bytes = await _receive(request, file, most_bytes)
        except BaseException:
            file.close()
            raise
        read = READS.start(file, name or "upload", size_bytes, shared=True)
    await _ended(read, wait_s)
    status = HTTPStatus.ACCEPTED
    if read.state == "failed":
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    elif read.has_ended:
        status = HTTPStatus.OK
    return JSONResponse(fields_of(read), status, headers={"Location": f"{PATH}/{read.key}"})


async def _receive(request: Request, file: IO[bytes], most_bytes: int) -> int:
    """Write the body to a file, and return its size [bytes]."""
    size_bytes, held = 0, bytearray()
    parts = aiter(request.stream())
    try:
        while True:
            async with asyncio.timeout(_SILENT_S):
                part = await anext(parts, None)
            if part is None:
                break
            size_bytes += len(part)
            if size_bytes > most_bytes:
                raise _too_large(most_bytes)
            held += part
            if len(held) >= _WRITE_BYTES:
                await run_in_threadpool(file.write, bytes(held))
                held.clear()
        await run_in_threadpool(file.write, bytes(held))
        await run_in_threadpool(file.flush)
    except (ClientDisconnect, TimeoutError):
        raise _Refusal(HTTPStatus.REQUEST_TIMEOUT, "the body ended early.",
                       "Send it again.") from None  # fmt: skip
    except OSError as error:
        raise _Refusal(HTTPStatus.INSUFFICIENT_STORAGE,
                       f"the file cannot be written ({error.strerror or error}).",
                       "Free space in the data directory.") from None  # fmt: skip
    if not size_bytes:
        raise _Refusal(HTTPStatus.BAD_REQUEST, "the body is empty.",
                       f"Send a trace or log: curl -T FILE -X POST 'http://…{PATH}'.")  # fmt: skip
    return size_bytes


async def _other(request: Request) -> Response:
    raise _Refusal(HTTPStatus.METHOD_NOT_ALLOWED, f"{request.method} is not answered here.",
                   f"Send a file: curl -T FILE -X POST 'http://…{PATH}'.")  # fmt: skip


async def _get(request: Request) -> Response:
    read = _known(request)
    await _ended(read, _seconds(request.query_params.get("wait"), usual=0.0))
    return JSONResponse(fields_of(read))


async def _delete(request: Request) -> Response:
    read = _known(request)
    READS.drop(read.key)
    return Response(status_code=HTTPStatus.NO_CONTENT)


def _known(request: Request) -> Read:
    read = READS.get(request.path_params["key"])
    if read is None:
        raise _Refusal(HTTPStatus.NOT_FOUND, "no such file is read, or was within an hour.",
                       "Send it again.")  # fmt: skip
    return read


async def _ended(read: Read, seconds: float) -> None:
    """Wait until a read has ended, so many seconds [s] at most."""
    ends_s = asyncio.get_running_loop().time() + seconds
    while not read.has_ended and asyncio.get_running_loop().time() < ends_s:
        await asyncio.sleep(_LOOK_S)


def fields_of(read: Read) -> dict[str, Any]:
    """Return a read as plain JSON values: how far it is, and what was read, by the main keys."""
    fields: dict[str, Any] = {
        "id": read.key,
        "url": f"{PATH}/{read.key}",
        "page": f"/profiles?read={read.key}",
        "name": read.name,
        "state": read.state,
        "bytes_read": read.done_bytes,
        "bytes": read.all_bytes,
        "steps": read.steps,
    }
    upload = read.upload
    if upload is None:
        return fields
    if upload.error is not None:
        return fields | {"error": upload.error.to_dict()}
    runs = [one.main_fields() for one in upload.traces]
    findings = [
        {"severity": one.severity, "sentence": one.sentence, "help": one.help}
        for one in upload.findings
    ]
    return fields | {"runs": runs, "findings": findings}


def _too_large(most_bytes: int) -> _Refusal:
    return _Refusal(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the file is larger than {most_bytes / 1e6:,g} MB.",
        "Pack it with gzip, or record fewer steps: three to five are enough.",
    )  # fmt: skip


def _name(given: str) -> str:
    r"""Return the name of a file as it was given; it is only ever shown.

    >>> _name("run.log")
    'run.log'
    """
    bad = given in (".", "..") or any(
        letter in "/\\" or not letter.isprintable() for letter in given
    )
    if bad or len(given) > MOST_NAME or PurePosixPath(given).name != given:
        raise _Refusal(
            HTTPStatus.BAD_REQUEST, "this is no plain name of a file.",
            f"Give the name without its folder, {MOST_NAME} characters at most.", "name",
        )  # fmt: skip
    return given


def _seconds(given: str | None, usual: float = USUAL_WAIT_S) -> float:
    """Return how long to wait for the end of a read [s]."""
    if given is None:
        return usual
    if not (given.isascii() and given.isdecimal() and len(given) <= _MOST_DIGITS) or (
        int(given) > MOST_WAIT_S
    ):
        raise _Refusal(HTTPStatus.BAD_REQUEST, "this is no time to wait.",
                       f"Give whole seconds, {MOST_WAIT_S:g} at most.", "wait")  # fmt: skip
    return float(given)
