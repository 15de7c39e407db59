"""What image libraries say is kept from the terminal, and understood."""

import numpy as np
import pytest

from service.quiet import quiet_libraries
from vision.sources.jpeg import decode, encode

WHOLE = encode(np.random.default_rng(1).integers(0, 255, (360, 640, 3), dtype=np.uint8))


@pytest.mark.parametrize(
    ("picture", "live", "told"),
    [
        pytest.param(WHOLE, False, False, id="whole"),
        pytest.param(WHOLE[:50_000] + b"\0" * 400 + WHOLE[50_400:], False, True, id="damaged"),
        pytest.param(WHOLE[:-2] + b"\0" * 5 + WHOLE[-2:], False, False, id="bytes too many"),
        pytest.param(WHOLE[:50_000] + b"\0" * 400 + WHOLE[50_400:], True, False, id="live"),
    ],
)
def test_damaged_pictures_are_noticed(
    capfd: pytest.CaptureFixture[str], picture: bytes, live: bool, told: bool
) -> None:
    """Webcams that send a few bytes too many send whole pictures; a live one goes on anyway."""
    with quiet_libraries(live=live) as damaged:
        assert decode(picture) is not None
        assert damaged() == told

    assert "JPEG" not in capfd.readouterr().err
