"""What was configured, and where does each value come from? The only reader of the environment and of voicegraph.toml."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from service.audio.sounds import TAGGERS
from service.engines.mem_search import ENGINES
from service.errors import VoicegraphError

PREFIX = "VOICEGRAPH_"
USUAL_USES = ("facts", "search", "answers")
MODEL_USES = (*USUAL_USES, "entities", "feelings")
"""What a language model may be set to do; the last two only where they are named. Who agreed that feelings are inferred of them
did not agree by that to what they said being sent elsewhere for it."""
UNQUOTED = ("password", "key", "base_url")
"""Parts of names of settings whose values may be, or hold, a secret."""


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


def _openai(name: str) -> AliasChoices:
    """The names that clients of such endpoints use, without our prefix."""
    return AliasChoices(f"openai_{name}", f"OPENAI_{name.upper()}")


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
    image_model: Path | None = Field(
        None, description="directory of a CLIP model (voicegraph[images]); none: images are found by their captions"
    )
    engine: str = Field(
        "neo4j", description="what finds the nearest messages: neo4j, graphiti (voicegraph[graphiti]) or mem0 (mem0_python)"
    )
    mem0_python: Path | None = Field(
        None, description="Python of an environment with mem0ai, which does not go together with ours; one process may use it"
    )
    sound_tagger: str = Field(
        "signals", description="what hears laughter and other sounds of who agreed: signals, or yamnet (voicegraph[sounds])"
    )
    spoof_scorer: str = Field(
        "none", description="what tells voices from recordings of them: module:Class of a package of yours; none: nothing does"
    )
    device: str = Field("auto", description="auto, cpu or cuda")
    threads: int = Field(
        2, ge=1, le=64, description="threads of each model; 2 was no slower than more on the machines we measured"
    )

    openai_base_url: str | None = Field(
        None,
        validation_alias=_openai("base_url"),
        description="language model: the address before /chat/completions; what was said is sent there; none: rules only",
    )
    openai_api_key: SecretStr | None = Field(None, validation_alias=_openai("api_key"), description="its key, if it wants one")
    openai_model: str = Field("gpt-4o-mini", validation_alias=_openai("model"), description="name of the model there")
    openai_use: str = Field(
        ",".join(USUAL_USES),
        description="what it is used for, with commas: facts, search (when to look further), answers; if named, too: entities, "
        "feelings (of who agreed to that)",
    )
    openai_daily_tokens: int = Field(
        1_000_000, ge=0, description="tokens a day (UTC) that may be used; about the facts of ten hours of talk; 0: no limit"
    )
    openai_timeout: float = Field(60.0, gt=0, description="seconds for one answer; a model on a CPU needs more")

    question_days: float = Field(
        0, ge=0, le=36_500, description="days that a question is kept, to group what later ones find; 0: none is"
    )
    question_hits: bool = Field(
        False,
        description="also keep what a question found, to rank that higher when its asker asks much the same again; of no "
        "use where it was measured (tests/bench/README.md)",
    )

    hooks_file: Path | None = Field(
        None, description="the sources that may deliver meetings (TOML, see README); none: hooks.toml in data_dir"
    )

    issuers_file: Path | None = Field(
        None, description="the identity providers whose tokens are taken (TOML, see README); none: issuers.toml in data_dir"
    )

    webhook_private: bool = Field(
        False,
        description="webhooks may be sent to private addresses, and to this machine by http; else https, public ones only",
    )

    host: str = Field("127.0.0.1", description="address `voicegraph serve` listens on")
    port: int = Field(8460, ge=0, le=65535, description="port `voicegraph serve` listens on; 0: any free one")
    development: bool = Field(True, description="GraphiQL and introspection; turn off where strangers can reach the port")
    requests_per_second: float = Field(
        50.0, ge=0, description="small queries a second that one token may ask (README: What strangers can send); 0: no limit"
    )
    anonymous_per_second: float = Field(10.0, ge=0, description="the same for one address without a token; 0: no limit")
    trusted_proxies: str = Field(
        "", description="addresses of reverse proxies, with commas: whom they name as client and by which scheme is believed"
    )
    cors_origins: str = Field(
        "", description="origins whose pages may ask, as https://app.example.org, with commas; none: pages of no other origin"
    )
    trusted_documents: Path | None = Field(
        None, description="a folder of .graphql files, or a manifest of hashes and texts: nothing else is run; none: any query"
    )
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

    @field_validator("openai_base_url")
    @classmethod
    def _address(cls, given: str | None) -> str | None:
        parts = urlsplit(given or "")
        if given is None:
            return None
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
            raise ValueError("must be http(s)://host[:port][/path], with the key in OPENAI_API_KEY")
        return given.rstrip("/")

    @field_validator("cors_origins")
    @classmethod
    def _origins(cls, given: str) -> str:
        for origin in filter(None, map(str.strip, given.split(","))):
            parts = urlsplit(origin)
            if (
                parts.scheme not in ("http", "https")
                or not parts.hostname
                or parts.geturl() != f"{parts.scheme}://{parts.netloc}"
            ):
                raise ValueError("must be origins as a browser sends them, http(s)://host[:port], each by its name")
        return given

    @field_validator("openai_api_key")
    @classmethod
    def _one_token(cls, given: SecretStr | None) -> SecretStr | None:
        key = given.get_secret_value().strip() if given else ""
        if not all(33 <= ord(character) <= 126 for character in key):
            raise ValueError("must be one word of ASCII characters")
        return SecretStr(key) if key else None

    @field_validator("openai_use")
    @classmethod
    def _known_uses(cls, given: str) -> str:
        uses = [use.strip() for use in given.split(",") if use.strip()]
        if unknown := set(uses) - set(MODEL_USES):
            raise ValueError(f"{', '.join(sorted(unknown))} is none of {', '.join(MODEL_USES)}")
        return ",".join(uses)

    @field_validator("sound_tagger")
    @classmethod
    def _known_tagger(cls, given: str) -> str:
        if given not in TAGGERS:
            raise ValueError(f"is none of {', '.join(TAGGERS)}")
        return given

    @field_validator("engine")
    @classmethod
    def _known_engine(cls, given: str) -> str:
        if given not in ENGINES:
            raise ValueError(f"is none of {', '.join(ENGINES)}")
        return given

    def uses_model_for(self, use: str) -> bool:
        """Whether a language model is set, and does that."""
        return self.openai_base_url is not None and use in self.openai_use.split(",")

    @property
    def origins(self) -> tuple[str, ...]:
        """Whose pages may ask."""
        return tuple(origin.strip() for origin in self.cors_origins.split(",") if origin.strip())

    @property
    def chat_dir(self) -> Path:
        """Answers of a language model that are kept, a folder for each space."""
        return self.data_dir / "chat"

    @property
    def chat_tokens_file(self) -> Path:
        """How many tokens it used, day by day."""
        return self.data_dir / "chat-tokens.sqlite"

    @property
    def thresholds_file(self) -> Path:
        """What `voicegraph calibrate` found; without it the shipped thresholds hold."""
        return self.data_dir / "thresholds.json"

    @property
    def tokens_file(self) -> Path:
        return self.data_dir / "tokens.json"

    @property
    def token_uses_file(self) -> Path:
        """When each of them was last used, to ten minutes."""
        return self.data_dir / "token-uses.json"

    @property
    def webhook_key_file(self) -> Path:
        """What the secrets of webhooks are made of; made when first needed."""
        return self.data_dir / "webhooks.key"

    @property
    def issuers_path(self) -> Path:
        """Of the identity providers whose tokens are taken."""
        return self.issuers_file or self.data_dir / "issuers.toml"

    @property
    def receipt_key_file(self) -> Path:
        """What receipts of erasures are signed with."""
        return self.data_dir / "receipts.key"

    @property
    def erasures_file(self) -> Path:
        """What was erased, for databases that are restored: ids only."""
        return self.data_dir / "erasures.jsonl"

    @property
    def opt_outs_key_file(self) -> Path:
        """What the marks of those who opted out are made with; made when first needed."""
        return self.data_dir / "opt-outs.key"

    @property
    def uploads_dir(self) -> Path:
        return self.data_dir / "uploads"

    @property
    def meetings_dir(self) -> Path:
        """The sound of meetings, until they are over."""
        return self.data_dir / "meetings"

    @property
    def sources_file(self) -> Path:
        """Of the meetings' backends that may deliver."""
        return self.hooks_file or self.data_dir / "hooks.toml"


@dataclass(frozen=True, slots=True)
class Origin:
    """One effective value; `source` is default, environment, file or argument. Secrets are shown as stars."""

    name: str
    value: Any
    source: str
    variable: str
    """The environment variable that sets it."""
    meaning: str


def variable(name: str) -> str | None:
    """What a file that must hold no secrets itself names as `env:NAME`."""
    return os.environ.get(name)


def load_settings(**arguments: Any) -> Settings:
    """Settings from arguments (a command's flags; None is left out), environment, file and defaults, in this order.

    Raises BadSettings naming each value that does not fit."""
    try:
        return Settings(**_given(arguments))
    except ValidationError as error:
        raise BadSettings(problems="; ".join(_problem(e["loc"], e["msg"], e["input"]) for e in error.errors())) from None


def _problem(place: Sequence[int | str], message: str, given: object) -> str:
    """With what was given, unless it may be a secret: of a password or key, or of a name that is not ours."""
    name = ".".join(map(str, place))
    known = {name for field in Settings.model_fields for name in _names(field)}
    may_quote = name in known and not any(part in name.lower() for part in UNQUOTED)
    return f"{name}: {message}" + (f" (given {given!r})" if may_quote else "")


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
