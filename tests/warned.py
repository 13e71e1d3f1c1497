"""What does one logger warn of? Heard at the logger itself: what else the process, or a library of it, did to the levels and
handlers above it must not decide whether a test hears it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(record.getMessage())


@contextmanager
def warned(name: str) -> Iterator[list[str]]:
    """The warnings and errors of the logger called `name`, in words, as they come."""
    logger, kept = logging.getLogger(name), _Kept()
    level, is_disabled, none_below = logger.level, logger.disabled, logging.root.manager.disable
    logger.addHandler(kept)
    logger.setLevel(logging.WARNING)
    logger.disabled = False
    logging.disable(logging.NOTSET)
    try:
        yield kept.told
    finally:
        logging.disable(none_below)
        logger.disabled = is_disabled
        logger.setLevel(level)
        logger.removeHandler(kept)
