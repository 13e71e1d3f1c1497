"""What do thresholds of one's own give? Made as `voicegraph calibrate` makes them, of voices that a collection has not."""

from __future__ import annotations

from dataclasses import replace

from service.identity.calibration import Utterance as Trial
from service.identity.calibration import calibrate
from tests.bench.locomo_id.assign import usable
from tests.bench.locomo_id.collections import CLEAN, Collection
from tests.bench.locomo_id.evaluate import System
from tests.bench.locomo_id.shifts import SHIFTS
from tests.bench.locomo_id.voices import Bank

CALIBRATED = "ours_calibrated"
EACH = 20
"""Utterances of a voice: 21 voices make 78,000 pairs of two."""


def calibrated(system: System, collection: Collection, bank: Bank) -> System:
    """`system` by thresholds of the synthetic voices that are not in `collection`, heard as its history is: clean, or under
    every shift in turn."""
    shifts = (CLEAN,) if all(turn.shift == CLEAN for turn in collection.turns) else SHIFTS
    speak = {turn.voice for turn in collection.turns}
    trials = [
        Trial(u.id, voice, u.id, bank.channel(u, shift), u.seconds, bank.embedding(u, shift))
        for voice in usable(bank)
        if voice not in speak
        for i, u in enumerate(bank.utterances(voice)[:EACH])
        for shift in (shifts[i % len(shifts)],)
    ]
    thresholds = calibrate(trials, system.routing.thresholds, labelled=True, origin="other voices of the bank").thresholds
    merging = system.merging and replace(system.merging, thresholds=thresholds)
    return replace(
        system,
        routing=replace(system.routing, thresholds=thresholds),
        asking=replace(system.asking, thresholds=thresholds),
        merging=merging,
    )
