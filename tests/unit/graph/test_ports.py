"""Which process listens on a port, and which ports are free."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from service.graph.ports import free_port, listens


def test_a_port_on_which_another_process_listens_is_not_taken_for_ones_own() -> None:
    """Two servers started at once may choose one port: the loser must not log in at the winner."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listens(os.getpid(), port)
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
            assert not listens(other.pid, port)
            other.communicate()
    assert not listens(os.getpid(), port)


def test_a_process_that_is_gone_listens_nowhere() -> None:
    assert not listens(2**22 + 1, 7687)


def test_a_taken_port_is_passed_over() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        assert free_port(taken) not in (taken, 0)
