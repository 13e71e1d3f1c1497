"""What was configured, and where does each value come from? The only reader of the environment and of voicegraph.toml."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from service.errors import VoicegraphError

PREFIX = "VOICEGRAPH_"


class BadSettings(VoicegraphError):
    code = "bad_settings"
    says = "{problems}. `voicegraph settings` lists every setting with its meaning."


def config_file() -> Path:
    """`VOICEGRAPH_CONFIG`, else voicegraph.toml in the user's configuration directory."""
    named = os.environ.get(f"{PREFIX}CONFIG")
    return Path(named) if named else Path(platformdirs.user_config_dir("voicegraph")) / "voicegraph.toml"


def _neo4j(name: str) -> AliasChoices:
    """The names that Neo4j's own tools use for a connection, without our prefix."""
    return AliasChoices(f"neo4j_{name}", f"NEO4J_{name.upper()}", *(("NEO4J_USERNAME",) if name == "user" else ()))


class Settings(BaseSettings):
    """Every value has a default that works on a laptop; the environment wins over the file, the file over the default."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", populate_by_name=True, env_ignore_empty=True
    )

    neo4j_uri: str | None = Field(
        None,
        validation_alias=_neo4j("uri"),
        description="server to use (bolt://, neo4j://, with +s for TLS); none: an embedded Neo4j is run",
    )
    neo4j_user: str = Field("neo4j", validation_alias=_neo4j("user"), description="login of that server")
    neo4j_password: SecretStr | None = Field(None, validation_alias=_neo4j("password"), description="password of that server")
    neo4j_database: str = Field("neo4j", validation_alias=_neo4j("database"), description="database on that server")
    neo4j_heap: str = Field("512m", description="heap of the embedded Neo4j; 256m is the floor, 512m serves 100,000 vectors")
    neo4j_keep_running: bool = Field(True, description="leave the embedded Neo4j running when the last command ends")
    java_home: Path | None = Field(
        None,
        validation_alias=AliasChoices("java_home", "JAVA_HOME"),
        description="a JDK to prefer over the packaged JRE, when it is new enough",
    )

    data_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("voicegraph")),
        description="embedded database, uploads and tokens",
    )
    cache_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_cache_dir("voicegraph")),
        description="exported models and downloaded jars; may be deleted at any time",
    )

    space: str = Field("home", description="tenant used where none is named")
    encoder: str = Field("campplus", description="speaker encoder: campplus, ecapa or titanet")
    encoder_source: str | None = Field(
        None, description="its weights: a directory, a file or a hub name; none: the packaged ones"
    )
    recogniser: str = Field(
        "packaged", description="faster-whisper model: `packaged` (tiny.en), a directory, a name, or `none`"
    )
    embedder: str = Field(
        "e5_small_v2_q", description="text embedding: e5_small_v2_q, or a sentence-transformers name or directory"
    )
    device: str = Field("auto", description="auto, cpu or cuda")
    threads: int = Field(
        2, ge=1, le=64, description="threads of each model; 2 was no slower than more on the machines we measured"
    )

    host: str = Field("127.0.0.1", description="address `voicegraph serve` listens on")
    port: int = Field(8460, ge=0, le=65535, description="port `voicegraph serve` listens on; 0: any free one")
    development: bool = Field(True, description="GraphiQL and introspection; turn off where strangers can reach the port")
    max_upload_mb: int = Field(1024, ge=1, description="largest upload, in megabytes; four hours of 16 kHz WAV are 460")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, config_file())

    @property
    def thresholds_file(self) -> Path:
        """What `voicegraph calibrate` found; without it the shipped thresholds hold."""
        return self.data_dir / "thresholds.json"

    @property
    def tokens_file(self) -> Path:
        return self.data_dir / "tokens.json"

    @property
    def uploads_dir(self) -> Path:
        return self.data_dir / "uploads"


@dataclass(frozen=True, slots=True)
class Origin:
    """One effective value; `source` is default, environment, file or argument. Secrets are shown as stars."""

    name: str
    value: Any
    source: str
    variable: str
    """The environment variable that sets it."""
    meaning: str


def load_settings(**arguments: Any) -> Settings:
    """Settings from arguments (a command's flags; None is left out), environment, file and defaults, in this order.

    Raises BadSettings naming each value that does not fit."""
    try:
        return Settings(**_given(arguments))
    except ValidationError as error:
        raise BadSettings(problems="; ".join(_problem(e["loc"], e["msg"], e["input"]) for e in error.errors())) from None


def _problem(place: Sequence[int | str], message: str, given: object) -> str:
    """With what was given, unless it may be a secret: of a password, or of a name that is not ours."""
    name = ".".join(map(str, place))
    known = {name for field in Settings.model_fields for name in _names(field)}
    return f"{name}: {message}" + (f" (given {given!r})" if name in known and "password" not in name.lower() else "")


def origins(settings: Settings, **arguments: Any) -> tuple[Origin, ...]:
    """Every setting with where its value comes from."""
    sources: tuple[tuple[str, Mapping[str, Any]], ...] = (
        ("argument", _given(arguments)),
        ("environment", EnvSettingsSource(Settings)()),
        (f"file {config_file()}", TomlConfigSettingsSource(Settings, config_file())()),
    )

    def origin(name: str) -> Origin:
        field, names = Settings.model_fields[name], _names(name)
        source = next((label for label, values in sources if names & set(values)), "default")
        variable = next((n for n in sorted(names) if n.isupper()), PREFIX + name.upper())
        value = getattr(settings, name)
        return Origin(
            name, str(value) if isinstance(value, Path | SecretStr) else value, source, variable, field.description or ""
        )

    return tuple(origin(name) for name in Settings.model_fields)


def _names(field: str) -> frozenset[str]:
    """Under which a field may be set."""
    alias = Settings.model_fields[field].validation_alias
    return frozenset({field, *(str(c) for c in alias.choices)}) if isinstance(alias, AliasChoices) else frozenset({field})


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}
