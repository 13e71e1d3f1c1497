"""With what is something erased? Made from the same parts as everything else, for the service, the API and the commands."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.pipelines.erase import Erase
    from service.wiring import Services


def erase_with(services: Services) -> Erase:
    """The key of receipts is made when the first is asked for; a model is loaded where turns are to be embedded anew."""
    from service.pipelines.erase import Erase
    from service.pipelines.erase_files import Files
    from service.pipelines.erasure_ledger import Ledger
    from service.pipelines.receipts import load_key

    s = services.settings
    return Erase(
        services.graph,
        partial(load_key, s.receipt_key_file),
        Ledger(s.erasures_file),
        Files(s.uploads_dir, s.meetings_dir, s.chat_dir, s.tokens_file),
        forget_mirrored=services.engines.forget_messages,
        embedder=services.text_embedder,
        marker=services.known_marker,
    )
