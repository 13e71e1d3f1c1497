"""What outlives a request must carry nothing from one space into another: each place that remembers, and by what it does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
REMEMBERING = {"dict", "OrderedDict", "defaultdict", "WeakKeyDictionary", "WeakValueDictionary", "Counter", "_Fetches"}

FOUND_BY_LOOKING = {
    "service/api/key_sets.py:_tls": "settings of TLS: of no space",
    "service/api/wire.py:_open": "a client's network: how many of its connections are open",
    "service/api/wire.py:_proxies": "a setting: addresses of proxies",
    "service/api/wire.py:_unfinished": "a client's network: how many of its requests have not ended",
    "service/audio/sounds/spectra.py:mel_weights": "numbers of a filter bank",
    "service/audio/spoofing.py:SCORERS": "names of classes: no entries yet",
    "service/connectors/files/columns.py:_normal": "a column's title: text to text",
    "service/connectors/files/source.py:clean_name": "a name: text to text",
    "service/connectors/files/source.py:speaker_label": "a label: text to text",
    "service/graph/cypher.py:for_space": "a query's text, and the name of an embedding space",
    "service/graph/search.py:_FETCHES": "a hash of space, audiences and filters: a number of candidates, no contents",
    "service/graph/server.py:_LEASES": "a server's directory",
    "service/identity/opt_outs.py:_projections": "numbers drawn from a key",
    "service/identity/rows.py:_KEPT": "a voice's own object, which one space's gallery holds",
    "service/memory/meeting/copies.py:words_of": "a text: its words",
    "service/memory/updater.py:_words": "a text: its words",
    "service/retrieval/weights.py:shipped": "the weights of the ranking",
    "service/retrieval/words.py:shipped": "the table of words",
}
"""What the code keeps in its modules; a new one is looked at before it is written here."""

OF_A_PROCESS = {
    "service/pipelines/gallery.py:_known": "space: its voices, at a revision",
    "service/language/chat_cache.py:_of": "a folder for each space",
    "service/api/streams.py:_open": "id of a stream: followed with its own token, whose space it is",
    "service/api/loaders.py:Reading": "one viewer, one operation: gone with it",
    "service/api/context.py:_readings": "one operation",
    "service/api/uploads.py:folder": "account, whose id is made of the space; of nobody: the hash of the sound",
    "service/graph/jobs.py:NewJob": "space, account and key",
    "service/pipelines/jobs.py:_live": "id of a job, which is made of the space",
}
"""What the objects of a process keep for more than one request."""


def test_what_a_module_keeps_was_looked_at() -> None:
    kept = set(_kept())
    assert kept - set(FOUND_BY_LOOKING) <= set(), "by what does it keep? Nothing of one space may come to another"
    assert set(FOUND_BY_LOOKING) <= kept, "gone"


def test_what_a_process_keeps_is_where_it_is_said_to_be() -> None:
    for place in OF_A_PROCESS:
        path, name = place.split(":")
        assert name in (ROOT / path).read_text(), place


def _kept() -> Iterator[str]:
    for path in sorted((ROOT / "service").rglob("*.py")):
        tree, file = ast.parse(path.read_text()), path.relative_to(ROOT).as_posix()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and {_name(d) for d in node.decorator_list} & {"cache", "lru_cache"}:
                yield f"{file}:{node.name}"
        for node in tree.body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _is_empty(node.value):
                yield f"{file}:{_name(node.targets[0] if isinstance(node, ast.Assign) else node.target)}"


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Dict):
        return not value.keys
    return isinstance(value, ast.Call) and _name(value) in REMEMBERING and not value.args


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
        case ast.Call():
            return _name(node.func)
        case ast.Subscript():
            return _name(node.value)
        case _:
            return ""
