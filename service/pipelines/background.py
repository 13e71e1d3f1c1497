"""What is worked out for nobody who waits: in threads of their own that the system gives less of a busy machine."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

NICE = 10
"""Of 19: beside a thread that answers somebody it gets a tenth of a core (Linux's weights: 110 to 1,024)."""
THREADS = 2
"""An embedding uses one; more would only wait for two cores."""


def _step_back() -> None:
    if sys.platform == "linux":  # elsewhere only whole processes can
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


_threads = ThreadPoolExecutor(THREADS, "background", _step_back)


async def in_background(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """As `asyncio.to_thread`, for what takes long outside of Python: who has the interpreter's lock should not be slow."""
    return await asyncio.get_running_loop().run_in_executor(_threads, partial(work, *args, **kwargs))
