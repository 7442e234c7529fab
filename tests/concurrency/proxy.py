"""A way to a server that can be cut at the worst moment."""

import contextlib
import enum
import re
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlalchemy import make_url

PIECE = 65_536
TERMINATE = b"X\x00\x00\x00\x04"
COMMIT = re.compile(rb"COMMIT;?\x00")


class Cut(enum.Enum):
    """When connections are cut."""

    NEVER = "never"
    BEFORE_COMMIT = "before the COMMIT reaches the server"
    AFTER_COMMIT = "after the server has committed, before it can say so"
    NOW = "at the next statement"


@dataclass
class Proxy:
    """
    Passes bytes between clients and one server; cuts one connection when told to, or refuses all.

    Attributes:
        delay: Seconds for which it holds what a client sends.
    """

    target: tuple[str, int]
    listener: socket.socket
    delay: float = 0
    cut: Cut = Cut.NEVER
    cuts: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def url(self, url: str) -> str:
        """Give a database's URL by this way."""
        return make_url(url).set(port=self.listener.getsockname()[1]).render_as_string(hide_password=False)

    def serve(self) -> None:
        """Accept clients until the listener is closed."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._pass, args=(client,), daemon=True).start()

    def _pass(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client, socket.create_connection(self.target) as server:
            for end in (client, server):
                # Otherwise small messages wait for one another.
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            muted = threading.Event()
            answers = threading.Thread(target=_answer, args=(server, client, muted), daemon=True)
            answers.start()
            while data := client.recv(PIECE):
                if self.delay:
                    time.sleep(self.delay)
                cut = self._cut_of(data)
                if cut is Cut.AFTER_COMMIT:
                    muted.set()
                    # With the COMMIT the session's end: the server has ended it when it has committed.
                    server.sendall(data + TERMINATE)
                    answers.join()
                if cut is not None:
                    break
                server.sendall(data)
            _shut(server)
            _shut(client)
            answers.join()

    def _cut_of(self, data: bytes) -> Cut | None:
        """Say whether this is where the connection is cut; once for each time it is asked for."""
        with self._lock:
            is_commit = COMMIT.search(data) is not None
            wanted = self.cut
            if wanted is Cut.NEVER or (wanted is not Cut.NOW and not is_commit):
                return None
            self.cut = Cut.NEVER
            self.cuts += 1
            return wanted


def _answer(server: socket.socket, client: socket.socket, muted: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while data := server.recv(PIECE):
            if not muted.is_set():
                client.sendall(data)
    _shut(client)


def _shut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def proxy_to(url: str, delay: float = 0) -> Iterator[Proxy]:
    """Open a way to the server of a URL."""
    parsed = make_url(url)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Proxy((parsed.host, parsed.port), listener, delay)
        threading.Thread(target=proxy.serve, daemon=True).start()
        yield proxy
        _shut(listener)
