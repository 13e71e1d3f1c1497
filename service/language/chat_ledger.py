"""How much may a language model be asked in a day? A count on disk that all processes share."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from service.errors import VoicegraphError

CREATE = "CREATE TABLE IF NOT EXISTS spent (day TEXT PRIMARY KEY, tokens INTEGER NOT NULL)"
OPEN_DAY = "INSERT INTO spent VALUES (?, 0) ON CONFLICT DO NOTHING"
RESERVE = "UPDATE spent SET tokens = tokens + :tokens WHERE day = :day AND (:daily = 0 OR tokens + :tokens <= :daily)"
SETTLE = "UPDATE spent SET tokens = tokens + :more WHERE day = :day"
SPENT = "SELECT tokens FROM spent WHERE day = :day"
BUSY = 10.0
"""Seconds to wait for another process; each holds the file for milliseconds."""


class TokensSpent(VoicegraphError):
    code = "tokens_spent"
    says = (
        "{spent} of the {daily} tokens a day that the setting openai_daily_tokens allows are spent, and this needs up to "
        "{needed}. Nothing is lost: go on tomorrow (UTC) or raise the setting, and facts go on where they stopped."
    )
    http_status = 429


class Ledger:
    """Tokens are reserved before a request and put right after it, so that no number of processes passes the limit; what a
    process that died had reserved counts as spent."""

    def __init__(self, file: Path, daily: int, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """`daily`: tokens a UTC day; 0: as many as there are."""
        self._file = file
        self.daily = daily
        self._clock = clock

    def reserve(self, tokens: int) -> str:
        """The day on which they were reserved. Raises TokensSpent."""
        day = self._clock().astimezone(UTC).date().isoformat()
        with self._opened() as db:
            db.execute(OPEN_DAY, (day,))
            if db.execute(RESERVE, {"tokens": tokens, "day": day, "daily": self.daily}).rowcount:
                return day
            spent = db.execute(SPENT, {"day": day}).fetchone()[0]
        raise TokensSpent(spent=spent, daily=self.daily, needed=tokens)

    def settle(self, day: str, reserved: int, used: int) -> None:
        with self._opened() as db:
            db.execute(SETTLE, {"more": used - reserved, "day": day})

    def spent(self) -> int:
        """Today."""
        if not self._file.exists():
            return 0
        with self._opened() as db:
            row = db.execute(SPENT, {"day": self._clock().astimezone(UTC).date().isoformat()}).fetchone()
        return int(row[0]) if row else 0

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self._file, timeout=BUSY)
        try:
            with db:
                db.execute(CREATE)
                yield db
        finally:
            db.close()
