"""Which thresholds fit my own voices and microphones? Measured, shown with their errors, kept where the service reads them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group, RenderableType

from service.cli.running import AsJson, EncoderName, with_models
from service.cli.shown import Bars, show, table
from service.errors import VoicegraphError

if TYPE_CHECKING:
    from service.identity.calibration import Calibration, PairFigures, Suggested
    from service.pipelines.calibrate import Listened
    from service.wiring import Models

DET_TICKS = (0.01, 0.05, 0.2, 1, 2, 5, 10, 20, 40)
"""%, on both axes of the picture"""


class NoPictures(VoicegraphError):
    code = "no_pictures"
    says = (
        "The DET picture needs matplotlib, which is not installed. `pip install voicegraph[pictures]`, or leave --picture out."
    )


def calibrate(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH…",
            exists=True,
            help="A folder with one folder a speaker, or a .csv with columns path and speaker; with --unlabelled any folder "
            "or recording.",
        ),
    ],
    unlabelled: Annotated[
        bool,
        typer.Option(
            "--unlabelled",
            help="Nobody says who speaks: voices told apart within each recording are compared. Only ever makes stricter.",
        ),
    ] = False,
    write: Annotated[
        bool, typer.Option("--write/--dry-run", help="Keep the thresholds for the service, or only show them.")
    ] = True,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the DET curves into this file (.png, .svg or .pdf).")
    ] = None,
    encoder: EncoderName = None,
    as_json: AsJson = False,
) -> None:
    """Measure error rates on your own recordings, and set the thresholds by them.

    A running service reads them when it starts again.

    Example: voicegraph calibrate recordings/ --picture det.png
    """
    with Bars() as bar:

        async def work(models: Models) -> tuple[Calibration, Listened]:
            return await models.calibrate(paths, labelled=not unlabelled, write=write, progress=bar("recordings"))

        calibration, listened = with_models(work, encoder=encoder)
    if picture is not None:
        draw_det(calibration, picture)
    show(_plain(calibration, listened), as_json, lambda: _drawn(calibration, listened))


def draw_det(calibration: Calibration, path: Path) -> None:
    """False rejects against false accepts on normal deviates (Martin et al., 1997), one curve a pair of channels."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise NoPictures() from None
    import numpy as np
    from scipy.stats import norm

    figure = Figure(figsize=(6, 6), layout="constrained")
    axes = figure.add_subplot()
    for figures in calibration.pairs:
        tail = np.quantile(figures.impostor, 1 - np.logspace(-5, 0, 500))
        points = np.unique(np.concatenate([figures.genuine, tail]))
        misses = np.searchsorted(np.sort(figures.genuine), points) / len(figures.genuine)
        accepts = 1 - np.searchsorted(np.sort(figures.impostor), points) / len(figures.impostor)
        inside = (misses > 0) & (misses < 1) & (accepts > 0) & (accepts < 1)
        label = f"{figures.pair.value}: EER {figures.eer:.2%}"
        axes.plot(norm.ppf(accepts[inside]), norm.ppf(misses[inside]), label=label)
    ticks = norm.ppf(np.array(DET_TICKS) / 100)
    for axis, what in ((axes.xaxis, "false accepts, %"), (axes.yaxis, "false rejects, %")):
        axis.set_ticks(ticks, [f"{tick:g}" for tick in DET_TICKS])
        axis.set_label_text(what)
    axes.set_xlim(ticks[0], ticks[-1])
    axes.set_ylim(ticks[0], ticks[-1])
    axes.grid(alpha=0.3)
    axes.legend()
    axes.set_title(
        f"{calibration.thresholds.encoder}: {calibration.num_speakers} speakers, {calibration.num_utterances} utterances"
    )
    figure.savefig(path)


def _plain(calibration: Calibration, listened: Listened) -> dict[str, Any]:
    return {
        "encoder": calibration.thresholds.encoder,
        "labelled": calibration.labelled,
        "num_speakers": calibration.num_speakers,
        "num_utterances": calibration.num_utterances,
        "update": calibration.thresholds.update,
        "origin": calibration.thresholds.origin,
        "pairs": [_figures(f) for f in calibration.pairs],
        "left_out": listened.left_out,
    }


def _figures(figures: PairFigures) -> dict[str, Any]:
    """Without the trials themselves."""
    names = ("pair", "num_genuine", "num_impostor", "eer", "min_dcf", "misses_at_1", "suggested")
    return {name: getattr(figures, name) for name in names}


def _drawn(calibration: Calibration, listened: Listened) -> RenderableType:
    errors = table(
        ("channels", "pairs of one voice", "of two", "EER", "minDCF", "misses at 1 % false accepts"),
        [
            (f.pair.value, f.num_genuine, f.num_impostor, f"{f.eer:.2%}", f"{f.min_dcf:.3f}", f"{f.misses_at_1:.1%}")
            for f in calibration.pairs
        ],
    )
    suggested = table(
        ("channels", "people", "τ_create", "τ_link", "misses", "τ_access", "misses"),
        [_row(f.pair.value, s) for f in calibration.pairs for s in f.suggested],
        empty="no pair of channels has enough trials",
    )
    parts: list[RenderableType] = [errors, "", suggested, "", f"τ_update {calibration.thresholds.update:.3f}"]
    if not calibration.labelled:
        parts.append("Unlabelled: the diariser's voices stand for people, so real errors are higher than shown.")
    if listened.left_out:
        parts += ["", table(("left out", "why"), [(left.path, left.why) for left in listened.left_out])]
    return Group(*parts)


def _row(pair: str, s: Suggested) -> tuple[object, ...]:
    link, access = (f"{s.link:.3f}", f"{s.link_misses:.1%}"), (f"{s.access:.3f}", f"{s.access_misses:.1%}")
    return pair, s.people, f"{s.create:.3f}", *link, *access
