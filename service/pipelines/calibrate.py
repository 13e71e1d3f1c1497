"""How does a recording become trials of a calibration, and where are the thresholds kept that came of one?"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from service.audio import decode
from service.audio.diarise import Diariser
from service.errors import InvalidInput, VoicegraphError
from service.identity.calibration import Calibration, Utterance
from service.identity.thresholds import ChannelPair, FalseAccepts, Thresholds, thresholds_for
from service.pipelines.clip import ClipConfig
from service.pipelines.hearing import HeardTurn, by_diariser, channels_of, heard_turns
from service.pipelines.stopwatch import Stopwatch
from service.types.audio import EmbeddingSpace, Progress

AUDIO = frozenset({".wav", ".flac", ".ogg", ".opus", ".mp3", ".m4a", ".aac", ".mp4", ".webm", ".mkv", ".wma", ".aiff"})
"""Endings by which recordings are found in folders; what a list names is read whatever it is called."""


class CalibratedOtherwise(VoicegraphError):
    code = "calibrated_otherwise"
    says = (
        "The thresholds of {encoder} in {path} were made with other weights ({given}; in use: {needed}). "
        "Run `voicegraph calibrate` again, or take that entry out of the file."
    )


class BrokenThresholds(VoicegraphError):
    code = "broken_thresholds"
    says = "{path} is no file of thresholds: {why}. `voicegraph calibrate` writes one; without the file the shipped ones hold."


@dataclass(frozen=True, slots=True)
class ListenConfig:
    min_speech: float = 2.0  # seconds: shorter turns are never learnt from, so they tell little about profiles
    max_utterances: int = 40  # of one voice in one recording, evenly spread: more make trials by the million and tell no more


@dataclass(frozen=True, slots=True)
class Recording:
    path: Path
    speaker: str | None
    """None: unlabelled, whoever the diariser tells apart in it."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class Listened:
    utterances: tuple[Utterance, ...]
    left_out: tuple[LeftOut, ...]


# ---- which recordings


def find_recordings(paths: Iterable[Path], *, labelled: bool) -> list[Recording]:
    """Of each path: a `.csv` with the columns `path` and `speaker` (relative to it); a folder, labelled with one folder a
    speaker; or, unlabelled, a single recording. Raises InvalidInput."""
    found: list[Recording] = []
    for path in paths:
        if path.suffix.lower() == ".csv":
            found += _listed(path)
        elif not path.is_dir():
            if labelled:
                raise InvalidInput(
                    what="a recording", given=str(path), needed="a folder with one folder a speaker, a .csv, or --unlabelled"
                )
            found.append(Recording(path, None))
        elif labelled:
            found += [Recording(p, d.name) for d in sorted(path.iterdir()) if d.is_dir() for p in _audio(d)]
        else:
            found += [Recording(p, None) for p in _audio(path)]
    if not found:
        raise InvalidInput(what="the recordings", given="none", needed="audio files in the folders given")
    return found if labelled else [Recording(r.path, None) for r in found]


def _audio(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix.lower() in AUDIO)


def _listed(path: Path) -> list[Recording]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        if not {"path", "speaker"} <= set(reader.fieldnames or ()):
            raise InvalidInput(what=f"the list {path.name}", given=f"columns {reader.fieldnames}", needed="path and speaker")
        return [Recording(path.parent / row["path"], row["speaker"]) for row in reader]


# ---- what is heard in them


def listen(
    recordings: Sequence[Recording], diariser: Diariser, progress: Progress, config: ListenConfig | None = None
) -> Listened:
    """Every utterance long enough. A labelled recording in which a second voice speaks, and whatever cannot be decoded, is
    left out and named."""
    config = config or ListenConfig()
    utterances: list[Utterance] = []
    left_out: list[LeftOut] = []
    for i, recording in enumerate(recordings):
        progress(i / len(recordings), recording.path.name)
        try:
            utterances += _heard(recording, diariser, config)
        except VoicegraphError as error:
            left_out.append(LeftOut(recording.path, f"{error.code}: {error.message}"))
    progress(1.0, "")
    return Listened(tuple(utterances), tuple(left_out))


class TwoVoices(VoicegraphError):
    code = "two_voices"
    says = "{share:.0%} of the speech is another voice's; a labelled recording must hold one speaker."
    http_status = 422


class NothingToCompare(VoicegraphError):
    code = "nothing_to_compare"
    says = "No turn of {seconds:g} s of one voice alone."
    http_status = 422


def _heard(recording: Recording, diariser: Diariser, config: ListenConfig) -> list[Utterance]:
    channels = channels_of(recording.path, decode.probe(recording.path).channels, None)
    tracks: dict[str, list[HeardTurn]] = defaultdict(list)
    for heard in heard_turns(recording.path, channels, by_diariser(diariser), Stopwatch()):
        tracks[heard.turn.track].append(heard)
    if recording.speaker is not None and tracks:
        speech = {track: sum(h.turn.net_speech for h in turns) for track, turns in tracks.items()}
        main = max(speech, key=lambda track: (speech[track], track))
        share = 1 - speech[main] / (sum(speech.values()) or 1.0)
        if share > ClipConfig().max_other:
            raise TwoVoices(share=share)
        tracks = {main: tracks[main]}
    session = str(recording.path)
    made = []
    for track, turns in sorted(tracks.items()):
        speaker = recording.speaker or f"{session}#{track}"
        for heard in _spread([h for h in turns if h.turn.net_speech >= config.min_speech], config.max_utterances):
            if heard.embedding is not None:
                turn, vector = heard.turn, heard.embedding.vector
                made.append(Utterance(f"{session}#{turn.index}", speaker, session, turn.channel, turn.net_speech, vector))
    if not made:
        raise NothingToCompare(seconds=config.min_speech)
    return made


def _spread(turns: Sequence[HeardTurn], most: int) -> list[HeardTurn]:
    return list(turns) if len(turns) <= most else [turns[i * len(turns) // most] for i in range(most)]


# ---- where thresholds are kept


def save_thresholds(path: Path, space: EmbeddingSpace, calibration: Calibration) -> None:
    """Put the thresholds of this encoder into the file beside those of others; whole or not at all."""
    kept = _read(path) if path.exists() else {}
    kept[space.name] = {"version": space.version, **_thresholds_out(calibration.thresholds)}
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(kept, indent=1, sort_keys=True), encoding="utf-8")
    new.replace(path)


def load_thresholds(path: Path, space: EmbeddingSpace) -> Thresholds:
    """Those calibrated for this encoder; the shipped ones where the file, or its entry, is not there.

    Raises CalibratedOtherwise when they are of other weights, BrokenThresholds."""
    shipped = thresholds_for(space.name)
    entry = _read(path).get(space.name) if path.exists() else None
    if entry is None:
        return shipped
    if entry.get("version") != space.version:
        raise CalibratedOtherwise(encoder=space.name, path=path, given=entry.get("version"), needed=space.version)
    try:
        return _thresholds_in(entry, shipped)
    except (KeyError, TypeError, ValueError) as error:
        raise BrokenThresholds(path=path, why=f"{type(error).__name__} in the entry of {space.name}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise BrokenThresholds(path=path, why="it is not JSON") from None
    if not isinstance(kept, dict) or not all(isinstance(entry, dict) for entry in kept.values()):
        raise BrokenThresholds(path=path, why="it is not an object with one object an encoder")
    return kept


def _thresholds_out(thresholds: Thresholds) -> dict[str, Any]:
    return {
        "origin": thresholds.origin,
        "update": thresholds.update,
        "updates": {pair.value: update for pair, update in (thresholds.updates or {}).items()},
        "create_cap": {pair.value: cap for pair, cap in (thresholds.create_cap or {}).items()},
        "pairs": {
            pair.value: {"rates": table.rates, "cosines": table.cosines, "slope": table.slope}
            for pair, table in thresholds.pairs.items()
        },
    }


def _thresholds_in(entry: Mapping[str, Any], shipped: Thresholds) -> Thresholds:
    tables = {
        ChannelPair(name): FalseAccepts(tuple(map(float, t["rates"])), tuple(map(float, t["cosines"])), float(t["slope"]))
        for name, t in entry["pairs"].items()
    }
    caps = {ChannelPair(name): float(cap) for name, cap in entry["create_cap"].items()}
    updates = {ChannelPair(name): float(update) for name, update in entry["updates"].items()}
    return replace(
        shipped,
        pairs={**shipped.pairs, **tables},
        update=float(entry["update"]),
        origin=str(entry["origin"]),
        create_gap=None,
        create_cap=caps or None,
        updates=updates or None,
    )
