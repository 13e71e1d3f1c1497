"""How is one turn spoken? Runs in the environment that render.py makes, not in Voicegraph's: reads lines of JSON
{"to": "…npy", "text": "…", "voice": "…", "speed": 1.0}, writes each as int16 samples at 16 kHz, and says "done" after each.

`python tests/bench/spoken/speak.py VOICES < lines`, with the project's root in PYTHONPATH."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from service.demo.make_household import Speaker


def main() -> None:
    speak = Speaker(Path(sys.argv[1]))
    for line in sys.stdin:
        wanted = json.loads(line)
        to = Path(wanted["to"])
        samples = speak(wanted["text"], wanted["voice"], wanted["speed"])
        unfinished = to.with_suffix(".tmp.npy")
        np.save(unfinished, np.round(np.clip(samples, -1, 1) * 32767).astype(np.int16))
        unfinished.rename(to)
        print("done", flush=True)


if __name__ == "__main__":
    main()
