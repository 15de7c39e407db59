"""Network cameras: JPEG streams over HTTP, and whatever else OpenCV opens (RTSP)."""

import http.client
import re
import urllib.error
import urllib.request
from base64 import b64encode
from typing import IO, Any
from urllib.parse import unquote, urlsplit, urlunsplit

import cv2

from vision.errors import SourceError, SourceLost
from vision.sources.jpeg import decode
from vision.sources.live import Shot

TIMEOUT_S = 4.0
LONGEST_JPEG = 20_000_000  # bytes; more is no picture of a webcam


def masked(url: str) -> str:
    """The address without its password, for messages and logs."""
    return re.sub(r"//[^/@]*@", "//***@", url)


class HttpGrabber:
    """A stream of JPEG pictures as phone apps and network cameras send it (MJPEG)."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._answer: IO[bytes] | None = None
        self._rest = b""

    def open(self) -> None:
        """Connects; raises SourceError with the address, never with the password."""
        parts = urlsplit(self._url)
        host = parts.netloc.rpartition("@")[2]
        request = urllib.request.Request(urlunsplit(parts._replace(netloc=host)))  # noqa: S310
        if parts.username:
            name = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            request.add_header("Authorization", f"Basic {b64encode(name.encode()).decode()}")
        try:
            self._answer = urllib.request.urlopen(request, timeout=TIMEOUT_S)  # noqa: S310
        except urllib.error.HTTPError as error:
            error.close()
            raise SourceError(f"{masked(self._url)} answers {error.code} {error.reason}") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise SourceError(f"{masked(self._url)} cannot be reached: {reason}") from None
        self._rest = b""

    def grab(self) -> Shot | None:
        """The next picture, found by its first and last bytes whatever stands between."""
        while True:
            begin = self._rest.find(b"\xff\xd8\xff")
            end = self._rest.find(b"\xff\xd9", begin + 3) if begin >= 0 else -1
            if end >= 0:
                data = self._rest[begin : end + 2]
                self._rest = self._rest[end + 2 :]
                image = decode(data)
                return None if image is None else (image, data)
            if begin < 0:
                self._rest = self._rest[-2:]
            elif len(self._rest) > LONGEST_JPEG:
                raise SourceLost("what it sends are no JPEG pictures")
            self._rest += self._more()

    def _more(self) -> bytes:
        if self._answer is None:
            raise SourceLost("the stream is closed")
        try:
            data: bytes = self._answer.read1(65536)  # type: ignore[attr-defined]
        except (OSError, http.client.HTTPException) as error:
            raise SourceLost(f"the stream broke off: {error}") from None
        if not data:
            raise SourceLost("the stream ended")
        return data

    def close(self) -> None:
        """Closes the connection."""
        if self._answer is not None:
            self._answer.close()
            self._answer = None


class RtspGrabber:
    """A camera that OpenCV's own network code opens, such as RTSP."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._capture: Any = None

    def open(self) -> None:
        """Connects with a time limit; raises SourceError."""
        limit = int(1000 * TIMEOUT_S)
        capture = cv2.VideoCapture(
            self._url,
            cv2.CAP_FFMPEG,
            [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, limit, cv2.CAP_PROP_READ_TIMEOUT_MSEC, limit],
        )
        if not capture.isOpened():
            capture.release()
            raise SourceError(f"{masked(self._url)} cannot be opened; check address and password")
        self._capture = capture

    def grab(self) -> Shot | None:
        """The next picture; raises SourceLost where the stream ended."""
        done, image = self._capture.read()
        if not done:
            raise SourceLost("the stream ended")
        return image, None

    def close(self) -> None:
        """Closes the connection."""
        if self._capture is not None:
            self._capture.release()
            self._capture = None
