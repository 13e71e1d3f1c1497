"""The commands about how people sound, over a real graph."""

from __future__ import annotations

from pathlib import Path

from service.graph.driver import Graph
from tests.graph.cli_builders import Typed
from tests.graph.sound_builders import evening, listen, told


async def test_sounds_are_kept_found_and_saved_by_whose_they_are_until_they_withdraw(
    graph: Graph, space: str, typed: Typed, tmp_path: Path
) -> None:
    world = await told(graph, space)
    assert "no piece of sound, are kept for 30 days" in await typed("sounds", "keep")
    assert await typed("sounds", "keep", "--pieces", "--days", "7", "--json") == {"keeps_sound": True, "sound_days": 7}
    assert "Nothing of it is known" in await typed("sounds", "find")
    for name in ("Ana", "Ben"):
        await typed("sounds", "agree", name, "--consent", "2026-11")
    await listen(world, evening(tmp_path))
    found = await typed("sounds", "find", "--label", "laughing", "--json", "--as", "Ben")
    assert [hit["message"]["text"] for hit in found] == ["The dentist called about the bill.", "You forgot the tent again."]
    shown = await typed("sounds", "find", "--by", "Ana", "--label", "ringing")
    assert "We can sleep in the car." in shown and "kept" in shown and "Ana" in shown
    assert "invalid_input" in await typed("sounds", "find", "--label", "purple", code=1)
    hers, file = found[1]["sound"]["id"], tmp_path / "laugh.ogg"
    assert "not_found" in await typed("sounds", "save", hers, str(file), "--as", "Ben", code=1)
    await typed("sounds", "save", hers, str(file), "--as", "Ana")
    assert file.read_bytes().startswith(b"OggS")
    await typed("sounds", "withdraw", "Ana", "--consent", "2026-11")
    left = await typed("sounds", "find", "--json")
    assert {hit["message"]["speaker_id"] for hit in left} == {world.person("ben")}
