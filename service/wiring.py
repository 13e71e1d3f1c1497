"""Which parts work together? Made from the settings, once a process: the graph at once, models when first asked for."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from service.connectors.live.sources import Sources
from service.errors import VoicegraphError
from service.graph import maven, migrate
from service.graph.driver import Graph, GraphConfig
from service.graph.server import EmbeddedServer, ServerConfig
from service.settings import variable
from service.types.audio import Progress, Recogniser, Samples, SpeakerEncoder, SpoofScorer, TextEmbedder, Waveform
from service.wiring_engines import Engines
from service.wiring_sounds import Sounds

if TYPE_CHECKING:
    from service.audio.segmentation import Segmenter
    from service.audio.vad import VadModel
    from service.identity.calibration import Calibration
    from service.identity.opt_outs import Marker
    from service.identity.thresholds import Thresholds
    from service.language.chat import Chat
    from service.pipelines.accounts import Accounts
    from service.pipelines.answer import Answerer
    from service.pipelines.calibrate import Listened
    from service.pipelines.correct import Correct
    from service.pipelines.enrol import Enrol
    from service.pipelines.entities import RememberEntities
    from service.pipelines.erase import Erase
    from service.pipelines.facts import RememberFacts
    from service.pipelines.found_before import FoundBefore
    from service.pipelines.gallery import Candidates, GalleryReader
    from service.pipelines.images import Images
    from service.pipelines.ingest import Ingest
    from service.pipelines.personas import RememberPersonas
    from service.pipelines.search import Search
    from service.pipelines.viewer import HeardVoice
    from service.pipelines.webhooks import Webhooks
    from service.settings import Settings
    from service.types.affect import FeelingReader
    from service.types.entities import EntityReader
    from service.types.facts import FactExtractor
    from service.types.parsing import Parser

T = TypeVar("T")

NO_RECOGNISER = "none"
"""Value of the setting `recogniser` with which messages have text from transcripts only."""


class ClipTooLong(VoicegraphError):
    code = "clip_too_long"
    says = "The clip is longer than {limit:g} s. Ten seconds of one voice are enough; use `ingest` for recordings."
    http_status = 413


@dataclass(frozen=True, slots=True)
class WiringConfig:
    max_clip: float = 120.0  # seconds of a clip that is held in memory whole; enrolment needs ten


def embedded_server(settings: Settings) -> EmbeddedServer:
    """The Neo4j of this user, whether it runs or not."""
    config = ServerConfig(cache=settings.cache_dir / "maven", heap=settings.neo4j_heap, java_home=settings.java_home)
    return EmbeddedServer(settings.data_dir / "neo4j", config)


def graph_config(settings: Settings) -> GraphConfig:
    """How to reach the server that the settings name, else the embedded one, started if need be."""
    if settings.neo4j_uri is None:
        address = embedded_server(settings).start()
        return GraphConfig(address.uri, address.user, address.password)
    password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else ""
    return GraphConfig(settings.neo4j_uri, settings.neo4j_user, password, settings.neo4j_database)


@asynccontextmanager
async def open_graph(settings: Settings) -> AsyncIterator[Graph]:
    """The database as it is, not migrated. An embedded one is stopped at the end, if the settings say so and no other
    process uses it."""
    graph = await Graph.open(await asyncio.to_thread(graph_config, settings))
    try:
        yield graph
    finally:
        await graph.close()
        if settings.neo4j_uri is None and not settings.neo4j_keep_running:
            await asyncio.to_thread(partial(embedded_server(settings).stop, unless_used=True))


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """Everything, over a migrated database."""
    async with open_graph(settings) as graph:
        await migrate.apply(graph)
        services = Services(settings, graph)
        try:
            yield services
        finally:
            await services.close()


class Models:
    """What needs no database. Each model is made when first asked for, in a thread."""

    def __init__(self, settings: Settings, config: WiringConfig | None = None) -> None:
        self.settings = settings
        self._config = config or WiringConfig()
        self._made: dict[str, Any] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def encoder(self) -> SpeakerEncoder:
        from service.audio.encoders import load_encoder

        s = self.settings
        return await self._once(
            "encoder",
            lambda: load_encoder(s.encoder, source=s.encoder_source, cache=s.cache_dir, device=s.device, threads=s.threads),
        )

    async def segmenter(self) -> Segmenter:
        from service.audio.segmentation import Segmenter

        return await self._once(
            "segmenter", lambda: Segmenter.load(cache=self.settings.cache_dir, threads=self.settings.threads)
        )

    async def vad(self) -> VadModel:
        from service.audio.vad import VadModel

        return await self._once("vad", VadModel.load)

    async def recogniser(self) -> Recogniser | None:
        """None when the settings say `none`."""
        from service.audio.recognise import load_recogniser

        s = self.settings
        if s.recogniser == NO_RECOGNISER:
            return None
        return await self._once(
            "recogniser", lambda: load_recogniser(s.recogniser, s.cache_dir, device=s.device, threads=s.threads)
        )

    async def thresholds(self) -> Thresholds:
        """Those calibrated for this encoder, else the shipped ones. Raises CalibratedOtherwise, BrokenThresholds.

        Only what was calibrated needs the encoder loaded: it is for certain weights."""
        from service.identity.thresholds import thresholds_for
        from service.pipelines.calibrate import load_thresholds

        file = self.settings.thresholds_file
        if not file.exists():
            return await self._once("thresholds", lambda: thresholds_for(self.settings.encoder))
        space = (await self.encoder()).embedding_space
        return await self._once("thresholds", lambda: load_thresholds(file, space))

    async def chat(self, use: str) -> Chat | None:
        """The language model, where one is set and `use` (one of MODEL_USES) is its to do; None: rules do it."""
        from service.language.chat import ChatConfig, load_chat

        s = self.settings
        if s.openai_base_url is None or not s.uses_model_for(use):
            return None
        url, key = s.openai_base_url, s.openai_api_key.get_secret_value() if s.openai_api_key else ""
        config = ChatConfig(url, s.openai_model, key, timeout=s.openai_timeout)
        return await self._once("chat", lambda: load_chat(config, s.chat_dir, s.chat_tokens_file, s.openai_daily_tokens))

    async def parser(self) -> Parser:
        from service.language.parser import SpacyParser

        return await self._once("parser", SpacyParser.load)

    async def fact_extractor(self) -> FactExtractor:
        """The language model's, where one is set for it; else that of the rules."""
        from service.language.fact_model import FactModel
        from service.memory.facts.dates import said
        from service.memory.facts.rules import RuleExtractor
        from service.memory.facts.words import check_words

        if (chat := await self.chat("facts")) is not None:
            model = FactModel(chat, lambda fact, turns: check_words(fact, turns).share, said)
            return await self._once("fact model", lambda: model)
        parser = await self.parser()
        return await self._once("fact rules", lambda: RuleExtractor(parser))

    async def entity_reader(self) -> EntityReader:
        """The language model's, where one is set for it; else that of nouns and names."""
        from service.language.entity_model import EntityModel
        from service.memory.left_brain.mentions import NounReader, names_something, voted

        if (chat := await self.chat("entities")) is not None:
            model = EntityModel(chat, names_something, voted)
            return await self._once("entity model", lambda: model)
        parser = await self.parser()
        return await self._once("entity nouns", lambda: NounReader(parser))

    async def feeling_reader(self) -> FeelingReader:
        """The language model's, where one is set for it; else that of a lexicon, whose parser most spaces never need."""
        from service.language.feeling_model import FeelingModel
        from service.memory.right_brain.feelings import tells_whom
        from service.memory.right_brain.reader import LexiconReader

        chat = await self.chat("feelings")
        reader = FeelingModel(chat, tells_whom) if chat is not None else LexiconReader(self.parser)
        return await self._once("feelings", lambda: reader)

    async def close(self) -> None:
        """What was opened outside of the database."""
        if (chat := self._made.pop("chat", None)) is not None:
            await chat.close()

    async def calibrate(
        self, paths: Sequence[Path], *, labelled: bool, write: bool, progress: Progress
    ) -> tuple[Calibration, Listened]:
        """Thresholds fitted to recordings, and what of these was left out; kept in the settings' file if `write`.

        Raises InvalidInput, TooFewTrials."""
        from service.audio.diarise import Diariser
        from service.identity.calibration import calibrate
        from service.identity.thresholds import thresholds_for
        from service.pipelines.calibrate import find_recordings, listen, save_thresholds

        recordings = find_recordings(paths, labelled=labelled)
        encoder, segmenter = await asyncio.gather(self.encoder(), self.segmenter())
        space = encoder.embedding_space
        listened = await asyncio.to_thread(listen, recordings, Diariser(segmenter, encoder), progress)
        origin = f"calibrated {datetime.now(UTC):%Y-%m-%d} on {'' if labelled else 'un'}labelled recordings"
        made = await asyncio.to_thread(
            partial(calibrate, listened.utterances, thresholds_for(space.name), labelled=labelled, origin=origin)
        )
        if write:
            await asyncio.to_thread(save_thresholds, self.settings.thresholds_file, space, made)
        return made, listened

    async def waveform(self, clip: Path) -> Waveform:
        """A short clip as a whole; raises the decoder's errors and ClipTooLong."""
        return await asyncio.to_thread(self._whole, clip)

    async def heard(self, clip: Path) -> HeardVoice:
        """The one voice in a clip, for asking by voice; raises the decoder's errors, ClipTooLong and AudioTooShort."""
        return await self.heard_in(await self.waveform(clip))

    async def heard_in(self, waveform: Waveform) -> HeardVoice:
        """The one voice in what was heard; raises NobodySpeaks, SeveralVoices and AudioTooShort."""
        from service.audio.diarise import Diariser, DiariserConfig
        from service.pipelines.clip import heard_voice

        segmenter, encoder, scorer = await asyncio.gather(self.segmenter(), self.encoder(), self.spoof_scorer())
        heard = await asyncio.to_thread(heard_voice, Diariser(segmenter, encoder, DiariserConfig()), waveform)
        return heard if scorer is None else replace(heard, spoof=await asyncio.to_thread(scorer, waveform))

    async def spoof_scorer(self) -> SpoofScorer | None:
        """None: the settings name none. Raises SpoofScorerMissing."""
        from service.audio.spoofing import load_scorer

        s = self.settings
        return await self._once("spoof_scorer", lambda: load_scorer(s.spoof_scorer, cache=s.cache_dir, threads=s.threads))

    async def _once(self, name: str, make: Callable[[], T], ready: Callable[[T], Awaitable[None]] | None = None) -> T:
        """What `make` made the first time, after `ready` for it; made in a thread, since loading a model takes seconds."""
        async with self._locks[name]:
            if name not in self._made:
                made = await asyncio.to_thread(make)
                if ready is not None:
                    await ready(made)
                self._made[name] = made
            return cast(T, self._made[name])

    def _whole(self, clip: Path) -> Waveform:
        from service.audio import decode

        samples: list[Any] = []
        for block in decode.blocks(clip, seconds=self._config.max_clip):
            if samples:
                raise ClipTooLong(limit=self._config.max_clip)
            samples.append(block.samples)
        return Waveform(np.concatenate(samples))


class Services(Models):
    """What the API and the command line work with: models, and pipelines over the graph."""

    def __init__(self, settings: Settings, graph: Graph, config: WiringConfig | None = None) -> None:
        super().__init__(settings, config)
        self.graph = graph
        self.engines = Engines(settings, graph, self.text_embedder)
        self.sounds = Sounds(settings, graph, self.search)
        self.sources = Sources(settings.sources_file, variable)

    async def close(self) -> None:
        """What was opened outside of the database, or beside it."""
        await self.engines.close()
        await super().close()

    async def text_embedder(self) -> TextEmbedder:
        """With its vector indexes, should the model be one that no migration knows."""
        from service.language.embed import load_text_embedder

        s = self.settings
        fetch = partial(maven.fetch, cache=s.cache_dir / "maven")
        return await self._once(
            "embedder",
            lambda: load_text_embedder(s.embedder, s.cache_dir, fetch=fetch, device=s.device, threads=s.threads),
            self._indexed,
        )

    async def _indexed(self, embedder: TextEmbedder) -> None:
        space = embedder.embedding_space
        await migrate.ensure_text_space(self.graph, space.name, space.dimension)

    async def gallery(self) -> GalleryReader:
        from service.pipelines.gallery import GalleryReader

        space = (await self.encoder()).embedding_space
        return await self._once("gallery", lambda: GalleryReader(self.graph, space, marker=self.known_marker))

    async def facts(self) -> RememberFacts:
        """`await facts(space, session_id)` reads the facts of a complete session."""
        from service.pipelines.facts import RememberFacts

        extractor, embedder = await asyncio.gather(self.fact_extractor(), self.text_embedder())
        return await self._once("facts", lambda: RememberFacts(self.graph, extractor, embedder))

    async def entities(self) -> RememberEntities:
        """`await entities(space, session_id)` reads what a complete session speaks of."""
        from service.pipelines.entities import RememberEntities

        reader = await self.entity_reader()
        return await self._once("entities", lambda: RememberEntities(self.graph, reader))

    async def personas(self) -> RememberPersonas:
        """`await personas(space, session_id)` reads how people felt who agreed to it, and consolidates them."""
        from service.pipelines.personas import RememberPersonas

        reader = await self.feeling_reader()
        return await self._once("personas", lambda: RememberPersonas(self.graph, reader))

    async def ingest(self) -> Ingest:
        """`await ingest(request, progress)` writes one recording."""
        from service.identity.router import RouterConfig
        from service.pipelines.ingest import Ingest

        encoder, segmenter, recogniser, embedder, gallery = await asyncio.gather(
            self.encoder(), self.segmenter(), self.recogniser(), self.text_embedder(), self.gallery()
        )
        thresholds, facts, entities, personas = await asyncio.gather(
            self.thresholds(), self.facts(), self.entities(), self.personas()
        )
        router = RouterConfig(thresholds=thresholds)
        mirror, erase = await self.engines.mirror_if_any(), await self.erase()
        return await self._once(
            "ingest",
            lambda: Ingest(
                self.graph,
                segmenter,
                encoder,
                router=router,
                recogniser=recogniser,
                text_embedder=embedder,
                gallery=gallery,
                facts=facts,
                entities=entities,
                personas=personas,
                sounds=self.sounds.remember(),
                mirror=mirror,
                erase=erase,
            ),
        )

    async def search(self) -> Search:
        from service.language.retrieval_model import RetrievalModel
        from service.pipelines.one_round import OneRound
        from service.pipelines.search import Search

        embedder, chat = await asyncio.gather(self.text_embedder(), self.chat("search"))
        policy = RetrievalModel(chat) if chat is not None else None
        before = await self.found_before()
        round = OneRound(self.graph, embedder, dense=await self.engines.dense(), found_before=before)
        return await self._once(
            "search",
            lambda: Search(self.graph, embedder, policy=policy, images=self.images, one_round=round, found_before=before),
        )

    async def found_before(self) -> FoundBefore | None:
        """What askers found before; None where it is not kept."""
        from service.pipelines.found_before import FoundBefore

        if not (self.settings.question_days and self.settings.question_hits):
            return None
        embedder = await self.text_embedder()
        return await self._once("found_before", lambda: FoundBefore(self.graph, embedder))

    async def images(self) -> Images:
        from service.language.images import load_image_embedder
        from service.pipelines.images import Images

        text, s = await self.text_embedder(), self.settings
        return await self._once("images", lambda: Images(self.graph, load_image_embedder(text, s.image_model, device=s.device)))

    async def answer(self) -> Answerer:
        from service.language.answer_model import AnswerModel
        from service.pipelines.answer import Answerer

        search, chat = await asyncio.gather(self.search(), self.chat("answers"))
        writer = AnswerModel(chat) if chat is not None else None
        return await self._once("answer", lambda: Answerer(self.graph, search, writer=writer))

    async def correct(self, *, settling: bool = False) -> Correct:
        """Puts right who is who; `settling` for what moves turns: sessions are then settled again, with the text embedder."""
        from service.pipelines.correct import Correct

        embedder = await self.text_embedder() if settling else None
        return await self._once(f"correct {settling}", lambda: Correct(self.graph, embedder, self.known_marker))

    def webhooks(self) -> Webhooks:
        """To make, change and try webhooks."""
        from service.pipelines.webhook_call import CallConfig
        from service.pipelines.webhook_secrets import load_key
        from service.pipelines.webhooks import Webhooks

        s = self.settings
        return Webhooks(self.graph, partial(load_key, s.webhook_key_file), CallConfig(private=s.webhook_private))

    async def accounts(self) -> Accounts:
        """Says whose logins are, and puts right what follows: sessions are then settled again, with the text embedder."""
        from service.pipelines.accounts import Accounts

        embedder = await self.text_embedder()
        return await self._once("accounts", lambda: Accounts(self.graph, embedder, self.known_marker))

    async def erase(self) -> Erase:
        """Erases a person, a session, a message or a fact, and gives receipts."""
        from service.wiring_erasure import erase_with

        return await self._once("erase", lambda: erase_with(self))

    async def forget_space(self, space: str) -> int:
        """Everything of one tenant: its nodes (how many went), the sound of its streams and meetings, over or not, what was
        kept of a language model's answers, and what engines mirror of it, also of those that are set no more; what the ledger
        of erasures says of it holds for a backup of it alone from now on. Raises LedgerUnreadable; EngineMissing where
        Mem0 was used and cannot be opened now."""
        from service.graph.forget_space import forget_space
        from service.language.chat_cache import AnswerCache
        from service.pipelines.erasure_ledger import Ledger
        from service.pipelines.meeting_tapes import Tapes
        from service.pipelines.stream_notes import forget_streams

        await asyncio.to_thread(Ledger(self.settings.erasures_file).space_forgotten, space, datetime.now(UTC))
        await asyncio.to_thread(forget_streams, self.settings.uploads_dir, space)
        await asyncio.to_thread(Tapes(self.settings.meetings_dir).forget_space, space)
        await asyncio.to_thread(AnswerCache(self.settings.chat_dir).forget, space)
        await self.engines.forget(space)
        return await forget_space(self.graph, space)

    async def warm(self) -> None:
        """Load every model now, so that no request waits for one, and what is missing is said at the start."""
        await asyncio.gather(self.ingest(), self.answer(), self.spoof_scorer())

    async def voices(self, space: str, vectors: Sequence[Samples]) -> Candidates:
        """Whom voices heard in `space` may be, for asking by voice."""
        return await (await self.gallery()).asked(space, vectors)

    async def enrol(self, *, space: str, name: str, clip: Path, **agreed: Any) -> str:
        """Id of the person, with consent to `remember_voice` recorded (as Enrol takes it) and the clip's exemplars kept."""
        waveform, enrol = await asyncio.gather(self.waveform(clip), self._enrol())
        return await enrol(space=space, name=name, waveform=waveform, **agreed)

    def marker(self) -> Marker:
        """Makes the marks of those who opt out; with a new key, where there is none yet. Raises KeyFileUnusable."""
        from service.identity.opt_outs import Marker
        from service.pipelines.key_files import load_key

        return Marker(load_key(self.settings.opt_outs_key_file))

    def known_marker(self) -> Marker | None:
        """None where nobody opted out here. Raises KeyFileUnusable."""
        from service.identity.opt_outs import Marker
        from service.pipelines.key_files import find_key

        key = find_key(self.settings.opt_outs_key_file)
        return Marker(key) if key is not None else None

    async def _enrol(self) -> Enrol:
        from service.identity.ask import AskConfig
        from service.pipelines.enrol import Enrol

        encoder, segmenter, gallery, thresholds = await asyncio.gather(
            self.encoder(), self.segmenter(), self.gallery(), self.thresholds()
        )
        ask = AskConfig(thresholds=thresholds)
        return await self._once("enrol", lambda: Enrol(self.graph, segmenter, encoder, gallery, ask=ask))
