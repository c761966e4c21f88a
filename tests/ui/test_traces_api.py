"""Files over HTTP, from a real server on the loopback interface."""

from __future__ import annotations

import http.client
import io
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette

from advisor.core.errors import TraceError
from advisor.testing.uploads import bad_files, profiler_trace
from advisor.traces.trace import MAIN_KEYS
from advisor.ui import traces_api
from advisor.ui.reads import AT_ONCE, READS, Reads
from advisor.ui.traces_api import PATH, trace_routes

MOST_BYTES = 300_000
DATA = {"Content-Type": "application/octet-stream"}


def until(holds: Callable[[], bool]) -> None:
    """Wait for what another thread does; fails after some seconds."""
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a server with the routes alone, and a small limit."""
    config = uvicorn.Config(
        Starlette(routes=trace_routes(MOST_BYTES)), log_level="error", lifespan="off"
    )
    server = uvicorn.Server(config)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join(10)


@pytest.fixture(autouse=True)
def _nothing_stays_open(own_data_dir: Path) -> Iterator[None]:
    """See after each test that no file of a body is left, with or without a name."""
    yield
    deadline = time.monotonic() + 5
    while (left := _left(own_data_dir)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left == []


def _left(folder: Path) -> list[str]:
    opened = [str(one) for one in folder.rglob("*") if one.is_file()]
    descriptors = Path("/proc/self/fd")
    if descriptors.is_dir():
        links = []
        for one in descriptors.iterdir():
            try:
                links.append(os.readlink(one))  # noqa: PTH115 - Path.readlink, but as text
            except OSError:
                continue
        opened += [link for link in links if link.startswith(str(folder))]
    return opened


def ask(
    port: int, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named, encode_chunked=not isinstance(body, bytes))
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, json.loads(content) if content else {}
    finally:
        connection.close()


def post(port: int, body: Any, query: str = "", **headers: str) -> tuple[int, dict[str, Any]]:
    return ask(port, "POST", PATH + query, body, **(DATA | headers))


def test_a_trace_is_read_and_answered_by_the_main_keys(port: int) -> None:
    status, said = post(port, profiler_trace(), "?name=run.json&wait=60")
    assert (status, said["state"], said["name"]) == (200, "done", "run.json")
    (run,) = said["runs"]
    assert list(run) == list(MAIN_KEYS)
    assert run["step_time_s"] == pytest.approx(0.1)
    assert run["gpu_busy_share"] == pytest.approx(0.8, abs=0.01)
    assert said["bytes_read"] == said["bytes"] == len(profiler_trace())
    assert said["steps"] == 10
    assert ask(port, "GET", said["url"]) == (200, said)


def test_a_body_in_chunks_is_read_alike(port: int) -> None:
    data = profiler_trace()
    parts = iter([data[:1000], data[1000:]])
    status, said = post(port, parts, "?wait=60", Transfer_Encoding="chunked")
    assert (status, said["runs"][0]["step_time_s"]) == (200, pytest.approx(0.1))


def test_who_does_not_wait_asks_again(port: int) -> None:
    status, said = post(port, profiler_trace(), "?wait=0")
    assert status in (200, 202)
    status, said = ask(port, "GET", said["url"] + "?wait=60")
    assert (status, said["state"]) == (200, "done")


def test_a_read_is_forgotten_when_that_is_asked(port: int) -> None:
    _, said = post(port, profiler_trace())
    assert ask(port, "DELETE", said["url"]) == (204, {})
    status, said = ask(port, "GET", said["url"])
    assert (status, "Send it again" in said["error"]["todo"]) == (404, True)


def test_a_read_is_cancelled_while_it_runs(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = threading.Event()

    def endless(file: Any, name: str, progress: Any) -> Any:
        looked.set()
        while True:
            progress(1, 2)
            time.sleep(0.005)

    monkeypatch.setattr("advisor.ui.reads.read_all", endless)
    status, said = post(port, profiler_trace(), "?wait=0")
    assert (status, said["state"] in ("waiting", "reading")) == (202, True)
    assert looked.wait(10)
    read = READS.get(said["id"])
    assert read is not None
    assert ask(port, "GET", said["url"])[1]["bytes_read"] <= 1
    assert ask(port, "DELETE", said["url"])[0] == 204
    assert read.wait(10)
    assert (read.state, read.upload) == ("cancelled", None)


@pytest.mark.parametrize("name", ["picture.json", "run.pt", "bomb.json.gz"])
def test_a_file_that_cannot_be_read_says_why(port: int, tmp_path: Path, name: str) -> None:
    marker = tmp_path / "marker"
    status, said = post(port, bad_files(marker)[name], f"?name={name}&wait=60")
    assert (status, said["state"]) == (422, "failed")
    assert said["error"]["kind"] == "TraceError"
    assert said["error"]["what"]
    assert said["error"]["todo"]
    assert not marker.exists()
    assert "runs" not in said


def test_an_empty_body_is_refused(port: int) -> None:
    status, said = post(port, b"")
    assert (status, said["error"]["what"]) == (400, "the body is empty.")


def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_sent(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(
            f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {MOST_BYTES + 1}\r\n\r\n".encode()
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


def test_a_body_that_becomes_too_large_is_refused(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(f"POST {PATH} HTTP/1.1\r\nHost: x\r\n"
                           "Transfer-Encoding: chunked\r\n\r\n".encode())  # fmt: skip
        for _ in range(MOST_BYTES // 50_000 + 1):
            connection.sendall(b"c350\r\n" + bytes(50_000) + b"\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


def test_a_connection_that_breaks_leaves_nothing_behind(port: int) -> None:
    before = READS.waiting
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(
            f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nsome".encode()
        )
        until(lambda: READS.waiting == before + 1)
    until(lambda: READS.waiting == before)


def test_files_that_still_come_in_count_as_waiting(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = READS.waiting
    monkeypatch.setattr(traces_api, "MOST_WAITING", before + 1)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(
            f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nsome".encode()
        )
        until(lambda: READS.waiting == before + 1)
        assert post(port, profiler_trace())[0] == 503
    until(lambda: READS.waiting == before)
    assert post(port, profiler_trace(), "?wait=60")[0] == 200


def test_who_falls_silent_is_not_waited_for(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces_api, "_SILENT_S", 0.2)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(
            f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nsome".encode()
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/html",
             "image/png", "application/JSON5"],
)  # fmt: skip
def test_a_body_of_another_type_is_refused_with_the_command_that_works(
    port: int, kind: str
) -> None:
    status, said = post(port, profiler_trace(), Content_Type=kind)
    assert status == 415
    assert "curl -T FILE -X POST" in said["error"]["todo"]


@pytest.mark.parametrize("kind", sorted(traces_api.CONTENT_TYPES - {""}))
def test_a_body_may_be_sent_as_what_it_is(port: int, kind: str) -> None:
    status, said = post(port, profiler_trace(), "?wait=60", Content_Type=f"{kind}; q=1")
    assert (status, said["state"]) == (200, "done")


@pytest.mark.parametrize(
    "name", ["..", ".", "../x", "/etc/passwd", "a%2Fb", "..%5Cx", "x%00y", "x%0Ay", "n" * 256]
)
def test_a_name_that_is_a_path_is_refused(port: int, name: str) -> None:
    status, said = post(port, profiler_trace(), f"?name={name}")
    assert (status, said["error"]["where"]) == (400, "name")


@pytest.mark.parametrize("wait", ["61", "-1", "1e3", "x", "²", "9" * 99, "0" * 9 + "9" * 9])
def test_a_time_that_cannot_be_waited_is_refused(port: int, wait: str) -> None:
    quoted = wait.encode().hex("%")
    status, said = post(port, profiler_trace(), f"?wait=%{quoted}")
    assert (status, said["error"]["where"]) == (400, "wait")


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://other.example"}, {"Origin": "null"},
                {"Sec_Fetch_Site": "cross-site"}],
)  # fmt: skip
def test_another_site_cannot_send_files_or_read_answers(port: int, headers: dict[str, str]) -> None:
    assert post(port, profiler_trace(), **headers)[0] == 403
    assert ask(port, "GET", f"{PATH}/x", **headers)[0] == 403


def test_the_own_pages_may_send_files(port: int) -> None:
    origin = {"Origin": f"http://127.0.0.1:{port}"}
    assert post(port, profiler_trace(), "?wait=60", **origin)[0] == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_files_are_posted_and_nothing_else(port: int, method: str) -> None:
    status, said = ask(port, method, PATH)
    assert (status, method in said["error"]["what"]) == (405, True)


def test_a_server_that_is_busy_says_so(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces_api, "MOST_WAITING", 0)
    status, said = post(port, profiler_trace())
    assert (status, "minute" in said["error"]["todo"]) == (503, True)


def test_a_full_disk_is_said(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        closed = False

        def write(self, _: bytes) -> int:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            self.closed = True

    full = Full()
    monkeypatch.setattr(traces_api.tempfile, "TemporaryFile", lambda **_: full)
    status, said = post(port, profiler_trace())
    assert (status, said["error"]["what"]) == (
        507, "the file cannot be written (No space left on device).",
    )  # fmt: skip
    assert full.closed


def test_what_was_read_is_held_for_an_hour_and_not_without_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(profiler_trace())
    reads = Reads()
    first = reads.start(path.open("rb"), "run.json", 1)
    assert first.wait(30)
    assert reads.get(first.key) is first
    monkeypatch.setattr("advisor.ui.reads.MOST_HELD", 1)
    second = reads.start(path.open("rb"), "run.json", 1)
    third = reads.start(path.open("rb"), "run.json", 1)
    assert second.wait(30)
    assert third.wait(30)
    assert reads.get(first.key) is None
    assert third.ended_s is not None
    monkeypatch.setattr("advisor.ui.reads.HELD_S", -1.0)
    assert reads.get(third.key) is None


def test_a_file_that_is_cancelled_while_it_waits_is_let_go_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = threading.Event()

    def slow(*_: Any, **__: Any) -> Any:
        held.wait(30)
        raise TraceError("too slow.")

    monkeypatch.setattr("advisor.ui.reads.read_all", slow)
    reads = Reads()
    busy = [reads.start(io.BytesIO(b"x"), "busy", 1) for _ in range(AT_ONCE)]
    try:
        until(lambda: all(read.state == "reading" for read in busy))
        file = io.BytesIO(b"x")
        third = reads.start(file, "third", 1)
        reads.drop(third.key)
        assert third.wait(10)
        assert (third.state, file.closed) == ("cancelled", True)
        assert [read.state for read in busy] == ["reading"] * AT_ONCE
    finally:
        held.set()
    assert all(read.wait(10) for read in busy)
