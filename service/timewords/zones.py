"""Which clock is meant by a session's zone: an IANA name, an offset, or nothing?"""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from service.errors import VoicegraphError

_OFFSET = re.compile(r"^(?:utc|gmt)?\s*([+\-−])\s*(\d{1,2})(?::?([0-5]\d))?$", re.IGNORECASE)


class ZoneUnknown(VoicegraphError):
    code = "zone_unknown"
    says = "The time zone {zone!r} is none; give an IANA name such as Europe/Madrid, or an offset such as +02:00."
    http_status = 422


def zone_of(zone: str | None) -> tzinfo:
    """UTC where none was given. Raises ZoneUnknown."""
    if zone is None or zone.strip().upper() in ("", "Z", "UTC", "GMT"):
        return UTC
    if (offset := _OFFSET.match(zone.strip())) is not None:
        sign, hours, minutes = offset.groups()
        length = timedelta(hours=int(hours), minutes=int(minutes or 0))
        if length < timedelta(hours=24):
            return timezone(length if sign == "+" else -length)
        raise ZoneUnknown(zone=zone)
    try:
        return ZoneInfo(zone.strip())
    except (ZoneInfoNotFoundError, ValueError, OSError) as problem:
        raise ZoneUnknown(zone=zone) from problem
