"""Does it know who speaks? Encoders, diarisation, attribution with given boundaries, and the router as the gallery grows.

`python -m tests.bench.identity [--quick] [--json PATH] [--encoder ecapa --weights DIR]`
"""

from __future__ import annotations

from pathlib import Path

import platformdirs

from service.audio.encoders import load_encoder
from tests.bench import attribution, diarisation, encoders, open_set
from tests.bench.report import Report, arguments

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--encoder", default="campplus", help="campplus, ecapa or titanet")
    parser.add_argument("--weights", help="the encoder's weights: directory, file or model name")
    parser.add_argument("--cache", type=Path, default=Path(platformdirs.user_cache_dir("voicegraph")))
    chosen = parser.parse_args()
    report = Report("identity")
    if not SHARED.is_dir():
        report.missing("everything", "put the recordings (meetings, voices, embeddings) into ../shared/data")
        report.finish(chosen.json)
        return
    encoders.run(report, chosen.quick, chosen.encoder, chosen.weights, chosen.cache)
    diarisation.run(report, chosen.quick)
    encoder = load_encoder(chosen.encoder, source=chosen.weights, cache=chosen.cache)
    attribution.run(report, chosen.quick, encoder, SHARED)
    if chosen.encoder == "campplus":
        open_set.run(report, chosen.quick, SHARED)
    else:
        report.missing(f"the router on kept embeddings with {chosen.encoder}", "only CAM++ embeddings are kept")
    report.finish(chosen.json)


if __name__ == "__main__":
    main()
