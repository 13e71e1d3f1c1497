"""Who gets in? The tokens of this service and the identity providers whose tokens are taken, and whether these answer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from service.cli.checks import Check, State
from service.errors import VoicegraphError

if TYPE_CHECKING:
    from service.api.issuers import Issuer
    from service.api.key_sets import KeySets
    from service.settings import Settings


def check_tokens(settings: Settings) -> Check:
    """How many there are, and what is worth looking at of them."""
    from service.api.tokens import list_tokens

    try:
        entries = list_tokens(settings.tokens_file)
    except VoicegraphError as error:
        return Check("tokens", State.MISSING, str(error), "`chmod 600` it, or move it away and make new ones")
    live = [entry for entry in entries if entry.is_live(datetime.now(UTC))]
    if not live:
        return Check("tokens", State.OK, "none: nobody asks over the network but by voice, where a space is open for that")
    said = {
        "may read everything": sum("read_all" in one.scopes for one in live),
        "may administer": sum("admin" in one.scopes for one in live),
        "never expire": sum(one.expires_at is None for one in live),
        "still ask for others by the file, until the service starts": sum(bool(one.may_act_for) for one in live),
    }
    return Check("tokens", State.OK, "; ".join([str(len(live)), *(f"{n} {what}" for what, n in said.items() if n)]))


async def check_issuers(settings: Settings, patience: float) -> list[Check]:
    """Asks each provider for its keys, as the service does for the first token of one."""
    from service.api.issuers import Issuers
    from service.api.key_sets import KeysConfig, KeySets

    try:
        issuers = Issuers(settings.issuers_path).all()
    except VoicegraphError as error:
        return [Check("identity providers", State.MISSING, str(error), "repair the file: no token of theirs is taken")]
    if not issuers:
        return [Check("identity providers", State.OK, "none: tokens of this service alone")]
    keys = KeySets(KeysConfig(timeout=patience))
    return [await _check(keys, issuer) for issuer in issuers]


async def _check(keys: KeySets, issuer: Issuer) -> Check:
    from service.api.key_sets import KeysNotUsable

    name = f"identity provider {issuer.name}"
    where = f"into {issuer.space}" if issuer.space else f"into the space of the claim {issuer.space_claim}"
    scopes = ", ".join(sorted(issuer.scopes)) or "nothing without a claim"
    said = f"{issuer.issuer} for {', '.join(issuer.audience)}, {where}; everybody of it may: {scopes}"
    try:
        found = await keys.check(issuer)
    except KeysNotUsable as error:
        return Check(
            name, State.MISSING, f"{said}; its keys cannot be had: {error}", "check its address, and that it is reached"
        )
    usable = [key for key in found if key.algorithms & set(issuer.algorithms)]
    if not usable:
        kinds = ", ".join(sorted({one for key in found for one in key.algorithms}))
        return Check(name, State.MISSING, f"{said}; its keys are for {kinds}", "add one of these to its `algorithms`")
    return Check(name, State.OK, f"{said}; {len(usable)} keys")
