"""Small answers leave at once: the server's sockets are told not to wait for more to send.

Streamlit 1.67 makes its listening socket in a way that keeps asyncio from switching Nagle's
algorithm off. An answer then waits some 40 ms for the browser's acknowledgement of its head.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

_OPEN_FILES = Path("/proc/self/fd")


def answer_at_once() -> int:
    """Switch Nagle's algorithm off for this process's listening sockets.

    Connections inherit it from the socket that accepts them. Elsewhere than on Linux nothing is
    done.

    Returns
    -------
    int
        How many sockets were changed.

    Examples
    --------
    >>> with socket.create_server(("127.0.0.1", 0)) as server:
    ...     changed = answer_at_once()
    ...     bool(server.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)) or not changed
    True
    """
    if not _OPEN_FILES.is_dir():
        return 0
    return sum(_answer_at_once(int(name)) for name in os.listdir(_OPEN_FILES))


def _answer_at_once(descriptor: int) -> bool:
    try:
        with socket.socket(fileno=os.dup(descriptor)) as one:
            stream = one.type == socket.SOCK_STREAM and one.family in (
                socket.AF_INET,
                socket.AF_INET6,
            )
            if stream and one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return True
    except OSError:  # no socket, or closed in the meantime
        pass
    return False
