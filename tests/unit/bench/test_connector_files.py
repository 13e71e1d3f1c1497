"""The benchmark of transcript files makes every format there is, and none of its words is lost however long its meeting is."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.connectors.files import FORMATS, read_transcript
from tests.bench.connector_files import MAKE, WORDS, Turn, written
from tests.bench.connectors import SMALL, TIMES, WITHOUT_TEXT


def test_every_format_is_made() -> None:
    assert {kind.partition("/")[0] for kind in MAKE} == set(FORMATS)


@pytest.mark.parametrize("kind", MAKE)
def test_a_made_file_is_read_whole_in_its_format_also_where_the_largest_ends(kind: str, tmp_path: Path) -> None:
    last = SMALL * TIMES * 1000 // len(written(kind, range(100, 1100)))
    for first in (0, last - 20):
        numbers = range(first, first + 20)
        path = tmp_path / "meeting"
        path.write_text(written(kind, numbers))
        found = read_transcript(path)
        assert found.format == kind.partition("/")[0]
        texts = [part.text for part in found.segments if part.text]
        assert sum(len(text.split()) for text in texts) == (0 if kind in WITHOUT_TEXT else len(numbers) * len(WORDS))
        assert max(part.segment.end for part in found.segments) <= Turn(first + 19).end + 1.0
