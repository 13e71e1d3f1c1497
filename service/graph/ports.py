"""Which ports of this machine are free, and which answer?"""

from __future__ import annotations

import contextlib
import socket

import psutil


def free_port(*wanted: int | None, but: int | None = None) -> int:
    for port in (*wanted, 0):
        if port is None or port == but:
            continue
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port in TIME_WAIT is free
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise AssertionError("the system gives no free port")


def listens(pid: int, port: int) -> bool:
    """Whether that very process listens there: another server may have taken the port in the meantime."""
    with contextlib.suppress(psutil.NoSuchProcess):
        opened = psutil.Process(pid).net_connections("tcp")
        return any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in opened)
    return False
