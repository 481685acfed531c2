"""How a message is signed: HMAC-SHA256 over its id, the time of the try and its body, as Standard Webhooks has it.

Source: the specification of that name, version 1 of its symmetric signatures (`v1,` and base64). A receiver compares in constant
time and refuses times more than a few minutes away, so nobody can send an old message again.
"""

from __future__ import annotations

import base64
import hashlib
import hmac

EXAMPLE = """import base64, hashlib, hmac, time

def is_genuine(secret, headers, body):          # body: the bytes as they came
    said = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(said[1])) > 300:   # an old message, sent again by somebody
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    text = f"{said[0]}.{said[1]}.".encode() + body
    wanted = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    given = headers["webhook-signature"].split()
    return any(hmac.compare_digest(f"v1,{wanted}", one) for one in given)
"""
"""What the pages show; a test runs it against what is sent."""


def headers(key: bytes, message_id: str, seconds: int, body: bytes) -> dict[str, str]:
    """The headers of one try; `seconds` since 1970."""
    text = f"{message_id}.{seconds}.".encode() + body
    signature = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    return {"webhook-id": message_id, "webhook-timestamp": str(seconds), "webhook-signature": f"v1,{signature}"}
