"""The service's socket: answers leave at once, and a port that somebody has is refused in words."""

from __future__ import annotations

import socket

import pytest

from service.app import PortNotFree, listening


def test_what_is_written_to_a_connection_leaves_at_once() -> None:
    with listening("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_refused() -> None:
    with listening("127.0.0.1", 0) as listener, pytest.raises(PortNotFree, match="Choose another"):
        listening("127.0.0.1", listener.getsockname()[1])
