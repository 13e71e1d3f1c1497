"""How a plug-in is found by its name: a table of `"module:Class"` strings, imported only when chosen."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from service.errors import VoicegraphError


class UnknownPlugIn(VoicegraphError):
    code = "unknown_plug_in"
    says = "{name!r} is not a known {kind}. Known: {known}."


def load(table: Mapping[str, str], name: str, *, kind: str) -> Any:
    """The object behind `name`; raises UnknownPlugIn with the known names when there is none."""
    if name not in table:
        raise UnknownPlugIn(name=name, kind=kind, known=", ".join(sorted(table)))
    module, _, attribute = table[name].partition(":")
    return getattr(import_module(module), attribute)
