"""JPEG bytes to pictures and back, at the edge between sources and everything else."""

from typing import cast

import cv2
import numpy as np

from vision.frame import ImageBGR

QUALITY = 92  # for pictures that did not come as JPEG; a second loss nobody sees (85 to 95)


def decode(data: bytes) -> ImageBGR | None:
    """The picture, upright after its EXIF tag; None where the bytes are damaged or cut off."""
    if len(data) < 4 or data[:2] != b"\xff\xd8" or b"\xff\xd9" not in data.rstrip(b"\0")[-64:]:
        return None
    image = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_COLOR)
    return cast("ImageBGR | None", image)


def encode(image: ImageBGR, quality: int = QUALITY) -> bytes:
    """The picture as JPEG."""
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return data.tobytes()
