"""One step of the sweep that fails keeps no other from being done."""

from __future__ import annotations

import pytest

from service.app import swept
from service.errors import VoicegraphError
from tests.warned import warned


class Broken(VoicegraphError):
    code = "broken"
    says = "Broken."
    http_status = 500


@pytest.mark.parametrize("fault", [Broken, OSError, TypeError])
async def test_what_fails_is_said_and_the_rest_is_swept(fault: type[Exception]) -> None:
    done: list[str] = []

    async def fails() -> None:
        done.append("failed")
        raise fault

    async def expires() -> None:
        done.append("expired")

    with warned("voicegraph.api") as told:
        await swept((fails, expires))
    assert done == ["failed", "expired"] and len(told) == 1
