"""`python -m benchmarks.cycles OUT --seed 1 --game kewbz`: a table with pictures."""

import argparse
import json
import time
from pathlib import Path

import cv2
import numpy as np

from .lens import develop, exposure
from .positions import (
    COUNTS,
    Piece,
    Pose,
    colour_picture,
    draw_position,
    name,
    settle,
    spare_places,
    stacks,
)
from .scene import Stage
from .tables import CLOTHS, LIGHTS, RIGS, Table, between, draw_table, pick, toml


def main() -> None:
    """Reads the command line and makes one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cycles", description=__doc__)
    parser.add_argument("out", type=Path, help="folder of the table")
    parser.add_argument("--game", required=True, choices=sorted(RIGS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--rig", choices=("one", "two", "three", "corners"), help="default: what suits the game"
    )
    parser.add_argument("--stills", type=int, default=5)
    parser.add_argument(
        "--lens", type=int, default=0, metavar="N", help="views of the lens board for each camera"
    )
    parser.add_argument("--size", default="1280x720", metavar="WxH")
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--light", choices=LIGHTS)
    parser.add_argument("--cloth", choices=CLOTHS)
    args = parser.parse_args()
    width, height = map(int, args.size.split("x"))
    table = draw_table(
        args.game,
        args.seed,
        args.rig or RIGS[args.game][0],
        (width, height),
        args.light,
        args.cloth,
    )
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "table.toml").write_text(toml(table), "utf-8")
    shots = _shots(table, args.stills)
    truth = {
        "game": table.game,
        "family": "cycles",
        "seed": table.seed,
        "room": f"{table.look.light}, {table.look.cloth}",
        "cameras": {n: lens.truth() for n, lens in table.lenses.items()},
        "colours": stacks(shots["colours"]),
        "stills": {
            n: {"stacks": stacks(p), "pieces": [_written(q) for q in p]}
            for n, p in shots.items()
            if n.startswith("still")
        },
    }
    (args.out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n", "utf-8")
    Studio(table, args.samples, args.threads).photograph(args.out, shots, args.lens)


def _shots(table: Table, stills: int) -> dict[str, list[Piece]]:
    """The pieces of every picture: from few to many, in no order."""
    rng = np.random.default_rng([table.seed, 2])
    low, high = COUNTS[table.game]
    counts = [round(c + between(rng, -1, 1)) for c in np.linspace(low, high, stills)]
    rng.shuffle(counts)
    shots = {"empty": [], "colours": colour_picture(table.game, table.board, table.letters, rng)}
    return shots | {
        f"still{i:02}": draw_position(table.game, table.board, c, rng) for i, c in enumerate(counts)
    }


def _written(piece: Piece) -> list[object]:
    return [name(piece.cell), piece.level, list(piece.extent), piece.letter]


class Studio:
    """Takes the pictures of one table; exposure is found on the empty one and kept."""

    def __init__(self, table: Table, samples: int, threads: int) -> None:
        self.table, self.stage = table, Stage(table, samples, threads)
        self.rng = np.random.default_rng([table.seed, 3])
        self.gains: dict[str, float] = {}
        board, look = table.board, table.look
        extent = {"ksar": (1, 2, 3), "kwinty": (1, 1, 2), "turris": (1, 1, 2)}.get(
            table.game, (1, 1, 1)
        )
        places = spare_places(board, len(look.clutter), 95, self.rng)
        for what, (x, y) in zip(look.clutter, places, strict=False):
            self.stage.clutter(what, x, y)
        free = spare_places(board, 3 * look.spares, 1.3 * board.unit, self.rng)
        free = [p for p in free if all(abs(complex(p[0] - x, p[1] - y)) > 135 for x, y in places)][
            : look.spares
        ]
        self.spares = [
            (
                (*np.array(extent)[self.rng.permutation(3)].tolist(),),
                pick(self.rng, table.letters),
                Pose(x, y, self.stage.table_z, between(self.rng, 0, 180)),
            )
            for x, y in free
        ]

    def photograph(self, out: Path, shots: dict[str, list[Piece]], lens_views: int) -> None:
        """All pictures of all cameras."""
        for number, (shot, pieces) in enumerate(shots.items()):
            self._put(pieces, keep=1.0 if number < 2 else between(self.rng, 0.6, 1))
            for camera in self.table.lenses:
                self._take(out / f"{shot}.{camera}.jpg", camera, number)
        for number in range(lens_views):
            for camera, lens in self.table.lenses.items():
                self.stage.clear()
                self.stage.lens_board(lens, number)
                self._take(out / f"lens{number:02}.{camera}.jpg", camera, 1000 + number)

    def _put(self, pieces: list[Piece], keep: float) -> None:
        self.stage.clear()
        for extent, letter, pose in self.spares[: round(keep * len(self.spares))]:
            self.stage.piece(extent, letter, pose)
        for piece, pose in settle(
            self.table.board, pieces, self.table.look.sloppy, self.rng
        ).items():
            self.stage.piece(piece.extent, piece.letter, pose)

    def _take(self, path: Path, camera: str, seed: int) -> None:
        start, lens = time.monotonic(), self.table.lenses[camera]
        light = self.stage.light(lens, seed)
        gain = self.gains.setdefault(
            camera, exposure(lens, light / self.stage.white, self.stage.dimmed)
        )
        picture = develop(
            lens, light, gain * float(np.exp(self.rng.normal(0, 0.02))), self.stage.white, self.rng
        )
        cv2.imwrite(str(path), picture, [cv2.IMWRITE_JPEG_QUALITY, lens.sensor.jpeg])
        print(f"{path.name}: {time.monotonic() - start:.1f} s", flush=True)


main()
