"""A recording of four hours takes no more memory than one of half an hour, and people keep their track throughout."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from service.audio.segmentation import FRAME_SAMPLES, WINDOW_FRAMES
from service.graph.driver import Graph, GraphConfig, rows
from service.types.audio import SAMPLE_RATE, Segment
from tests.graph.test_ingest_broken_off import ended, process
from tests.unit.audio.speech import a_clip

HOURS = 4
EVERY = 1_500.0
"""Seconds between two conversations: each falls into another block of the diariser."""
APART = 12.0
"""Seconds between two turns: more than a window, for the network below takes all that a window holds for one voice."""
SPEAKERS = ("Nora", "Ben", "Ruth")

TURNS = """
MATCH (l:LocalSpeaker)-[:UTTERED]->(m:Message {space: $space})
RETURN m.start AS start, m.end AS end, l.label AS track, m.speaker_id AS person ORDER BY m.index
"""


def a_network_of_loudness(path: Path) -> Path:
    """A segmentation network of the same shape as pyannote's that takes whatever is louder than -50 dBFS for speech of one
    voice, by every tenth sample: four hours of the real one are seven minutes of CPU."""
    window, each = 160_000, 10
    step = FRAME_SAMPLES // each
    kernel = window // each - (WINDOW_FRAMES - 1) * step
    weights = np.array([[-1.0, 1.0, *[0.0] * 5]], np.float32)  # loud is 1 or -1; silence is the first class
    nodes = [
        helper.make_node("AveragePool", ["waveform"], ["some"], kernel_shape=[1], strides=[each]),
        helper.make_node("Mul", ["some", "some"], ["square"]),
        helper.make_node("AveragePool", ["square"], ["power"], kernel_shape=[kernel], strides=[step]),
        helper.make_node("Sub", ["power", "quiet"], ["above"]),
        helper.make_node("Sign", ["above"], ["loud"]),
        helper.make_node("Transpose", ["loud"], ["rows"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["rows", "weights"], ["scores"]),
        helper.make_node("Mul", ["scores", "sure"], ["logits"]),
        helper.make_node("LogSoftmax", ["logits"], ["classes"], axis=-1),
    ]
    constants = {"quiet": np.float32(1e-5), "sure": np.float32(8.0), "weights": weights}
    graph = helper.make_graph(
        nodes,
        "loudness",
        [helper.make_tensor_value_info("waveform", TensorProto.FLOAT, ["n", 1, window])],
        [helper.make_tensor_value_info("classes", TensorProto.FLOAT, ["n", WINDOW_FRAMES, 7])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def a_long_recording(path: Path) -> list[tuple[str, Segment]]:
    """Silence with a conversation every `EVERY` seconds, all of which the disk holds as a sparse file; who speaks when."""
    size = HOURS * 3_600 * SAMPLE_RATE * 2
    said: list[tuple[str, Segment]] = []
    with path.open("wb") as file:
        form = struct.pack("<HHIIHH", 1, 1, SAMPLE_RATE, SAMPLE_RATE * 2, 2, 16)
        file.write(b"RIFF" + struct.pack("<I", 36 + size) + b"WAVEfmt " + struct.pack("<I", 16) + form)
        file.write(b"data" + struct.pack("<I", size))
        header = file.tell()
        file.truncate(header + size)
        for place in range(int(HOURS * 3_600 / EVERY)):
            at = 30.0 + place * EVERY
            for number in (place, place + 1):
                for speaker in SPEAKERS:
                    clip = a_clip(speaker, number)
                    file.seek(header + 2 * round(at * SAMPLE_RATE))
                    file.write((clip.samples * 32767).astype("<i2").tobytes())
                    said.append((speaker, Segment(at, at + clip.duration)))
                    at += clip.duration + APART
    return said


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
@pytest.mark.timeout(600)  # a minute of CPU, on a machine that may be busy
async def test_four_hours_take_the_memory_of_a_block_and_people_keep_their_tracks(
    graph: Graph, graph_config: GraphConfig, space: str, tmp_path: Path
) -> None:
    said = a_long_recording(tmp_path / "long.wav")
    asked = {
        "steps": [{"path": str(tmp_path / "long.wav"), "space": space}],
        "segmentation": str(a_network_of_loudness(tmp_path / "loudness.onnx")),
        "peaks": str(tmp_path / "peaks.json"),
    }
    assert await ended(process(graph_config, asked)) == 0

    peaks = [json.loads(line) for line in (tmp_path / "peaks.json").read_text().splitlines()]
    early = max(peak for share, peak in peaks if share <= 0.25)
    print(f"peak in the first hour {early:.0f} MB, at the end {peaks[-1][1]:.0f} MB: {[round(peak) for _, peak in peaks]}")
    assert peaks[-1][1] < early + 200  # of threads and their heaps; three more hours of sound would be 700 MB

    tracks: dict[str, set[str]] = {speaker: set() for speaker in SPEAKERS}
    persons: dict[str, set[str | None]] = {speaker: set() for speaker in SPEAKERS}
    found = await graph.read(rows, TURNS, space=space)
    for turn in found:
        own = Segment(turn["start"], turn["end"])
        speaker, _ = max(said, key=lambda each: each[1].overlap(own))
        tracks[speaker].add(turn["track"])
        persons[speaker].add(turn["person"])
    assert len(found) >= len(said)
    assert tracks == {"Nora": {"speaker_1"}, "Ben": {"speaker_2"}, "Ruth": {"speaker_3"}}
    assert all(len(people) == 1 for people in persons.values()) and len(set.union(*persons.values())) == 3
