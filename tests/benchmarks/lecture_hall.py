"""Play a lecture hall: many sessions, each releasing a slider every few seconds.

No browsers: every session is one websocket that speaks Streamlit's protocol and one HTTP
connection for tables, as the player in a browser would use them. Prints figures and asserts
nothing. Run from the repository's root::

    python tests/benchmarks/lecture_hall.py                     # starts its own server
    python tests/benchmarks/lecture_hall.py --url http://localhost:8501 --sessions 200

What is measured:

table
    From the release of a slider until its table has arrived: what the audience waits for.
told to Python
    From the report of the values until Streamlit has finished the run that stores them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.benchmarks.player_latency import ROOT, server

REPORT_SECONDS = 0.8  # as in player.js
TIMEOUT_SECONDS = 60


def main() -> None:
    """Read the options, start a server if none is given, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="address of a running server; by default one is started")
    parser.add_argument("--page", default="roofline")
    parser.add_argument("--app", default=str(ROOT / "app.py"))
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two releases")
    parser.add_argument("--seconds", type=float, default=40.0)
    options = parser.parse_args()
    if options.url:
        asyncio.run(play(options.url, options))
    else:
        with server(options.app) as address:
            asyncio.run(play(address, options))


@dataclass
class Hall:
    """What all sessions measured."""

    opened: list[float] = field(default_factory=list)
    tables: list[float] = field(default_factory=list)
    reports: list[float] = field(default_factory=list)
    table_bytes: list[int] = field(default_factory=list)
    report_bytes: list[int] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


async def play(address: str, options: argparse.Namespace) -> None:
    """Run the whole hall and print what was measured."""
    hall = Hall()
    http = Http(address)
    status, body = await http.get(f"/table/{options.page}", {})
    if status != 200:
        sys.exit(f"no table: {body[:200]!r}")
    sliders = {
        name: slider["urls"] for name, slider in json.loads(body)["sliders"].items()
        if slider["urls"]
    }  # fmt: skip
    http.close()
    start = asyncio.Event()
    everyone = [
        asyncio.create_task(Session(address, options, sliders, hall, seed).run(start))
        for seed in range(options.sessions)
    ]
    while len(hall.opened) + len(hall.failures) < options.sessions:
        await asyncio.sleep(0.1)
    start.set()
    await asyncio.gather(*everyone)
    print(
        f"{options.sessions} sessions, one release every {options.every:g} s each, "
        f"{options.seconds:g} s, {os.cpu_count()} cores shared with this benchmark"
    )
    show("session opened", hall.opened)
    show("released slider: table", hall.tables)
    show("told to Python", hall.reports)
    for label, sizes in (("table", hall.table_bytes), ("told to Python", hall.report_bytes)):
        if sizes:
            print(
                f"{label + ': bytes':26} {statistics.median(sizes):8.0f} median, "
                f"{max(sizes):8.0f} at most"
            )
    print(f"failures: {len(hall.failures)} {sorted(set(hall.failures))[:3]}")


def show(label: str, seconds: list[float]) -> None:
    """Print median and 95th percentile."""
    if not seconds:
        print(f"{label:26} nothing measured")
        return
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    print(
        f"{label:26} {1000 * statistics.median(ordered):7.1f} ms median, "
        f"{1000 * p95:7.1f} ms p95, {1000 * ordered[-1]:7.1f} ms at most  (n = {len(ordered)})"
    )


class Session:
    """One member of the audience."""

    def __init__(
        self,
        address: str,
        options: argparse.Namespace,
        sliders: dict[str, list[str]],
        hall: Hall,
        seed: int,
    ) -> None:
        self.address = address
        self.options = options
        self.sliders = sliders
        self.hall = hall
        self.random = random.Random(seed)
        self.values = dict.fromkeys(sliders, "")
        self.component = ""
        self.fragment = ""
        self.reports = 0

    async def run(self, start: asyncio.Event) -> None:
        """Open the page, then release sliders until the time is over."""
        # Not all at once: people come in over a while.
        await asyncio.sleep(self.random.uniform(0, self.options.sessions * 0.1))
        parts = urlsplit(self.address)
        stream = f"ws://{parts.netloc}{parts.path.rstrip('/')}/_stcore/stream"
        try:
            async with websockets.connect(
                stream, subprotocols=["streamlit"], max_size=None, origin=self.address,
                open_timeout=TIMEOUT_SECONDS,
            ) as socket:  # fmt: skip
                self.socket = socket
                self.http = Http(self.address)
                begun = time.perf_counter()
                await self.open()
                self.hall.opened.append(time.perf_counter() - begun)
                await start.wait()
                await self.move()
                self.http.close()
        except Exception as error:
            self.hall.failures.append(f"{type(error).__name__}: {error}")

    async def open(self) -> None:
        """Load the page, and learn the component's name from what Streamlit sends."""
        message = BackMsg()
        message.rerun_script.query_string = ""
        message.rerun_script.page_name = self.options.page
        await self.socket.send(message.SerializeToString())
        await self.finished()
        if not self.component:
            raise RuntimeError("the page has no player")

    async def move(self) -> None:
        """Release a slider, and tell Python a moment later, again and again."""
        end = time.perf_counter() + self.options.seconds
        await asyncio.sleep(self.random.uniform(0, self.options.every))
        while time.perf_counter() < end:
            turn = time.perf_counter()
            name = self.random.choice(list(self.sliders))
            self.values[name] = self.random.choice(self.sliders[name])
            query = {key: value for key, value in self.values.items() if value}
            status, body = await self.http.get(f"/table/{self.options.page}", query)
            self.hall.tables.append(time.perf_counter() - turn)
            self.hall.table_bytes.append(len(body))
            if status != 200:
                self.hall.failures.append(f"table {status}")
            await asyncio.sleep(REPORT_SECONDS)
            await self.report()
            await asyncio.sleep(max(0.0, self.options.every - (time.perf_counter() - turn)))

    async def report(self) -> None:
        """Send the values as the component's state, which runs its fragment."""
        self.reports += 1
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string = ""
        rerun.fragment_id = self.fragment
        rerun.page_script_hash = self.page_hash
        state = rerun.widget_states.widgets.add()
        state.id = self.component
        state.json_value = json.dumps({"values": {**self.values, "report": self.reports}})
        begun = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        self.hall.report_bytes.append(await self.finished())
        self.hall.reports.append(time.perf_counter() - begun)

    async def finished(self) -> int:
        """Read until the run is over, and give the bytes received."""
        size = 0
        while True:
            payload = await asyncio.wait_for(self.socket.recv(), TIMEOUT_SECONDS)
            size += len(payload)
            message = ForwardMsg.FromString(payload)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.page_hash = message.new_session.page_script_hash
            elif kind == "delta":
                element = message.delta.new_element
                if element.WhichOneof("type") == "bidi_component":
                    self.component = element.bidi_component.id
                    self.fragment = message.delta.fragment_id
                elif element.WhichOneof("type") == "exception":
                    raise RuntimeError(element.exception.message)
            elif kind == "script_finished":
                return size


class Http:
    """One kept-alive HTTP connection."""

    def __init__(self, address: str) -> None:
        self.parts = urlsplit(address)
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str, query: dict[str, str]) -> tuple[int, bytes]:
        """Give the status and the body, which stays compressed."""
        compress = "gzip" if query else "identity"
        target = f"{self.parts.path.rstrip('/')}{path}?{urlencode(query)}"
        request = (
            f"GET {target} HTTP/1.1\r\nHost: {self.parts.netloc}\r\n"
            f"Accept-Encoding: {compress}\r\n\r\n"
        )
        kept = self.streams is not None
        try:
            return await self.ask(request)
        except (asyncio.IncompleteReadError, ConnectionError):
            if not kept:
                raise
            self.streams = None  # the server hangs up on idle connections: call again
            return await self.ask(request)

    async def ask(self, request: str) -> tuple[int, bytes]:
        """Send one request over the connection, and read its answer."""
        if self.streams is None:
            self.streams = await asyncio.open_connection(self.parts.hostname, self.parts.port)
        reader, writer = self.streams
        writer.write(request.encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        body = await reader.readexactly(int(headers["content-length"]))
        return int(head[0].split()[1]), body

    def close(self) -> None:
        """Hang up."""
        if self.streams:
            self.streams[1].close()


if __name__ == "__main__":
    main()
