"""The contact sheet for people: what each camera of each table sees, and a hand of its excerpt."""

from pathlib import Path

import cv2
import numpy as np

from calibration import cv
from sample_images.make.tables import HERE, tables

WIDTH, HEIGHT, ACROSS = 320, 180, 6


def contact_sheet(path: Path = HERE.parent / "contact_sheet.jpg") -> Path:
    """Writes the sheet with all pictures that exist."""
    cells = []
    for family in ("tune", "check"):
        for table in tables(family):
            shots = [("still06", name) for name in table.scene.cameras]
            first = next(iter(table.scene.cameras))
            shots += [("empty", first), ("lens01", first)]
            shots += [("excerpt/key002", name) for name in table.excerpt[:1]]
            for shot, name in shots:
                file = table.folder / f"{shot}.{name}.jpg"
                if file.exists():
                    label = f"{family} {table.name} {shot} {name}"
                    cells.append(_cell(cv.read_image(file), label))
    while len(cells) % ACROSS:
        cells.append(np.zeros_like(cells[0]))
    rows = [np.hstack(cells[n : n + ACROSS]) for n in range(0, len(cells), ACROSS)]
    _, data = cv2.imencode(".jpg", np.vstack(rows), [cv2.IMWRITE_JPEG_QUALITY, 80])
    path.write_bytes(data.tobytes())
    return path


def _cell(picture: cv.Image, label: str) -> cv.Image:
    small = cv2.resize(picture, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
    for colour, wide in (((0, 0, 0), 3), ((255, 255, 255), 1)):
        cv2.putText(small, label, (6, HEIGHT - 8), cv2.FONT_HERSHEY_SIMPLEX, 0.42, colour, wide)
    return np.asarray(small, dtype=np.uint8)
