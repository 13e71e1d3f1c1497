"""Does it know who speaks? Everything about identity, from the encoder to LoCoMo-ID; each part can be run by itself.

`python -m tests.bench.identity [--quick] [--json PATH] [--plots DIR] [--encoder ecapa --weights DIR]`
"""

from __future__ import annotations

from pathlib import Path

import platformdirs

from service.audio.encoders import load_encoder
from tests.bench import (
    attribution,
    channels,
    diarisation,
    drift,
    encoders,
    gallery,
    identity_memory,
    merging,
    open_set,
    opt_outs,
    routing,
)
from tests.bench.report import SHARED, Report, arguments


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--encoder", default="campplus", help="campplus, ecapa or titanet")
    parser.add_argument("--weights", help="the encoder's weights: directory, file or model name")
    parser.add_argument("--cache", type=Path, default=Path(platformdirs.user_cache_dir("voicegraph")))
    parser.add_argument("--plots", type=Path, help="folder for the plots; the JSON's unless given")
    chosen = parser.parse_args()
    report = Report("identity")
    if not SHARED.is_dir():
        report.missing("everything", "put the recordings (meetings, voices, embeddings) into ../shared/data")
        report.finish(chosen.json)
        return
    plots = chosen.plots or (chosen.json.parent if chosen.json else None)
    encoders.run(report, chosen.quick, chosen.encoder, chosen.weights, chosen.cache)
    diarisation.run(report, chosen.quick)
    encoder = load_encoder(chosen.encoder, source=chosen.weights, cache=chosen.cache)
    attribution.run(report, chosen.quick, encoder, SHARED)
    identity_memory.run(report, chosen.quick, SHARED, chosen.cache, chosen.encoder, chosen.weights, plots)
    routing.run(report, chosen.quick)
    gallery.run(report, chosen.quick)
    if chosen.encoder == "campplus":
        open_set.run(report, chosen.quick, SHARED, chosen.cache)
        channels.run(report, chosen.quick, SHARED)
        drift.run(report, chosen.quick, SHARED)
        merging.run(report, chosen.quick, SHARED)
        opt_outs.run(report, chosen.quick, SHARED)
    else:
        report.missing(f"the parts on kept embeddings with {chosen.encoder}", "only CAM++ embeddings are kept")
    report.finish(chosen.json)


if __name__ == "__main__":
    main()
