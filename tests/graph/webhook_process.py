"""A worker of webhooks in a process of its own, to be killed: `python -m tests.graph.webhook_process KEY_FILE LEASE_SECONDS`;
Neo4j's address comes by the environment."""

from __future__ import annotations

import asyncio
import os
import sys
from functools import partial
from pathlib import Path

from service.graph.driver import Graph, GraphConfig
from service.graph.webhooks import Webhook
from service.pipelines.webhook_call import CallConfig
from service.pipelines.webhook_secrets import find_key
from service.pipelines.webhook_worker import WebhookWorker, WorkerConfig


async def _leave(_: Webhook) -> bool:
    return True


async def main(key_file: Path, lease_seconds: float) -> None:
    graph = await Graph.open(GraphConfig(os.environ["NEO4J_URI"], os.environ["NEO4J_USER"], os.environ["NEO4J_PASSWORD"]))
    config = WorkerConfig(poll_seconds=0.05, lease_seconds=lease_seconds, call=CallConfig(private=True))
    await WebhookWorker(graph, partial(find_key, key_file), _leave, repr, config).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), float(sys.argv[2])))
