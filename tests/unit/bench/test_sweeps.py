from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from service.identity.thresholds import CAMPPLUS, constant
from tests.bench.locomo_id.evaluate import hear, ours
from tests.bench.locomo_id.plots import draw
from tests.bench.locomo_id.sweeps import Point, Swept, swept, verification_scores
from tests.bench.report import Report
from tests.unit.bench.collections_made import MadeVoices, a_query, two_sessions
from tests.unit.identity.voices import between

PAPER = constant("campplus", link=0.5, update=0.58, origin="test")


def a_point(system: str, parameter: str, value: float, precision: float, recall: float) -> Point:
    return Point(system, parameter, value, Counter(turns=100, b3_precision=100 * precision, b3_recall=100 * recall, wrong=1))


def test_contamination_and_fragmentation_are_what_b_cubed_lacks():
    point = a_point("gated", "link", 0.5, 0.9, 0.75)
    assert (point.contamination, point.fragmentation) == (pytest.approx(0.1), pytest.approx(0.25))


def test_a_stricter_link_threshold_fragments_and_a_laxer_one_contaminates():
    """Of ben's two turns the second resembles his first by 0.55; ana's third resembles ben by 0.40."""
    voices = MadeVoices({"m3": between(0.55, 1, 5), "m4": between(0.40, 1, 6)})
    report = Report("test")

    def gated_only(systems: list[Swept], what: str) -> list[Swept]:
        return [s for s in systems if s[2].name == "fixed"]

    points = swept(report, [two_sessions((a_query("ana"),))], voices, CAMPPLUS, PAPER, gated_only)
    by_value = {round(p.value, 2): p for p in points}
    assert by_value[0.62].fragmentation > by_value[0.5].fragmentation
    assert by_value[0.34].contamination > by_value[0.5].contamination == 0
    assert {row.condition for row in report.rows if row.metric == "b3_f1"} >= {"sweep/link=0.5", "sweep/link=0.62"}


def test_askers_score_above_what_lets_in_and_others_below():
    system = ours(CAMPPLUS)
    heard = hear(two_sessions(), system, MadeVoices())
    queries = [a_query("ana", "q1"), a_query("ben", "q2")]
    voices = MadeVoices({"q1": between(0.9, 0, 5), "q2": between(0.8, 1, 6)})
    genuine, impostor = verification_scores(heard, queries, system, voices)
    assert len(genuine) == len(impostor) == 2
    assert genuine.min() > 0 > impostor.max()
    assert genuine[0] - genuine[1] == pytest.approx(0.1, abs=1e-5)


def test_all_plots_are_drawn(tmp_path: Path):
    points = [a_point(s, p, v, 1.4 - v, v) for s in ("ours", "gated") for p in ("link", "update") for v in (0.5, 0.6)]
    rng = np.random.default_rng(0)
    drawn = draw(tmp_path / "plots", points, {"ours": (rng.normal(0.2, 0.1, 50), rng.normal(-0.4, 0.1, 500))})
    assert {path.name for path in drawn} == {"fragmentation_contamination.png", "sweeps.png", "det.png"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)
