"""Where the portal is: as the backend said at the start, or as a file of the backend's says since.

The one idea: a portal on the same machine may come back on another port; whoever can't reach it looks into the file again.
"""
import json
from urllib.parse import SplitResult, urlsplit

from .config import Config

LONGEST = 2000  # bytes of an address


class Address:
    """`url` has no slash at its end."""

    def __init__(self, config: Config) -> None:
        self._file = config.portal_file
        self.url = config.portal
        self.look_again()

    @property
    def parts(self) -> SplitResult:
        return urlsplit(self.url)

    def look_again(self) -> bool:
        """True if the portal is somewhere else than before. Another scheme is no such place: what it needs is set up once."""
        try:
            with open(self._file or "", "rb") as file:
                url = str(json.loads(file.read(LONGEST).decode("utf-8"))).rstrip("/")
        except (OSError, ValueError):
            return False
        if url == self.url or urlsplit(url).scheme != self.parts.scheme or not urlsplit(url).hostname:
            return False
        self.url = url
        return True
