"""Flat pictures that lie on things: boards, cloth, newspaper; sRGB, 0 to 1, top row far away."""

import cv2
import numpy as np
import numpy.typing as npt

from .tables import Board, Look, Paint, Rgb, blend

Picture = npt.NDArray[np.float32]
DOTS = 8  # a millimetre, on boards
CORNERS = {"B": (0, 0), "R": (0, 1), "O": (1, 1), "G": (1, 0)}  # QBQ: where each player starts


def grain(height: int, width: int, rng: np.random.Generator, along: float = 220) -> Picture:
    """Streaks of wood, mean 0, about -1 to 1."""
    streaks = np.zeros((height, width), np.float32)
    for thick, share in ((1.2, 0.35), (5, 0.4), (24, 0.6)):
        noise = rng.normal(0, 1, (height, width // 8 + 1)).astype(np.float32)
        noise = cv2.GaussianBlur(noise, (0, 0), sigmaX=along / 8, sigmaY=thick)
        streaks += share * cv2.resize(noise / noise.std(), (width, height))
    return np.clip(streaks / 1.4, -1.5, 1.5)


def _fill(height: int, width: int, colour: Rgb) -> Picture:
    return np.full((height, width, 3), colour, np.float32)


def board_print(  # noqa: C901
    game: str, board: Board, look: Look, paints: dict[str, Paint], rng: np.random.Generator
) -> Picture:
    """The board's top with its margin."""
    (wide, deep), m = board.size, board.margin
    width, height = round((wide + 2 * m) * DOTS), round((deep + 2 * m) * DOTS)
    image = _fill(height, width, look.base)
    if look.board_grain and game != "kwinty":
        image *= 1 + 0.13 * look.board_grain * grain(height, width, rng)[..., None]
    pitch = board.pitch

    def at(x: float, y: float) -> tuple[int, int]:
        return round((m + x) * DOTS), round((deep + m - y) * DOTS)

    def soft(a: tuple[int, int], b: tuple[int, int], colour: Rgb, mm: float) -> None:
        cv2.rectangle(image, a, b, colour, max(1, round(mm * DOTS)), cv2.LINE_AA)

    if game == "qbq":
        for letter, (right, back) in CORNERS.items():
            goal = paints[letter].colour
            for i in range(3):
                for j in range(3):
                    x, y = 3 * (1 - right) + i, 3 * (1 - back) + j
                    if look.style == "tinted":
                        cv2.rectangle(
                            image,
                            at(x * pitch, y * pitch),
                            at((x + 1) * pitch, (y + 1) * pitch),
                            blend(look.base, goal, 0.45),
                            -1,
                        )
                    else:
                        cv2.circle(
                            image,
                            at((x + 0.5) * pitch, (y + 0.5) * pitch),
                            round(0.2 * pitch * DOTS),
                            goal,
                            -1 if look.style == "discs" else 2 * DOTS,
                            cv2.LINE_AA,
                        )
    for i in range(board.columns):
        for j in range(board.ranks):
            a, b = at(i * pitch, j * pitch), at((i + 1) * pitch, (j + 1) * pitch)
            if look.style == "open":  # cells apart from each other
                gap = round(0.05 * pitch * DOTS)
                a, b = (a[0] + gap, a[1] - gap), (b[0] - gap, b[1] + gap)
            soft(a, b, look.ink, look.line_mm)
    if game == "qbq":
        for letter, (right, back) in CORNERS.items():
            soft(
                at((4 * right + 0.08) * pitch, (4 * back + 0.08) * pitch),
                at((4 * right + 1.92) * pitch, (4 * back + 1.92) * pitch),
                paints[letter].colour,
                2.0,
            )
    return np.clip(cv2.GaussianBlur(image, (0, 0), 1.2), 0, 1)


def cloth(kind: str, colours: tuple[Rgb, Rgb], rng: np.random.Generator) -> tuple[Picture, float]:
    """A tile of cloth or paper, and its width in millimetres."""
    if kind == "newspaper":
        return _newspaper(rng, colours), 620.0
    n = 640
    image, mm = _fill(n, n, colours[0]), float(rng.uniform(35, 90))
    dye = np.array(colours[1], np.float32)
    if kind == "gingham":
        band = (np.arange(n) % n < n // 2).astype(np.float32)
        share = (band[:, None] + band[None]) / 2
    elif kind == "stripes":
        edges = np.sort(rng.integers(0, n, 8))
        share = np.repeat((np.searchsorted(edges, np.arange(n)) % 2).astype(np.float32)[None], n, 0)
    else:
        share, mm = np.zeros((n, n), np.float32), mm * 2.2
        for _ in range(9):
            x, y, r = *rng.integers(90, n - 90, 2), rng.integers(18, 44)
            for petal in range(5):
                turn = petal * 1.2566 + float(x)
                cv2.circle(
                    share,
                    (int(x + r * np.cos(turn)), int(y + r * np.sin(turn))),
                    int(r * 0.62),
                    float(rng.uniform(0.6, 1)),
                    -1,
                    cv2.LINE_AA,
                )
            cv2.circle(share, (int(x), int(y)), int(r * 0.4), 0.1, -1, cv2.LINE_AA)
    image = image + cv2.GaussianBlur(share, (0, 0), 1.5)[..., None] * (dye - image)
    weave = 1 + 0.05 * np.sin(np.arange(n) * 2 * np.pi / 5)
    return np.clip(image * (weave[:, None] * weave[None])[..., None], 0, 1).astype(np.float32), mm


def _newspaper(rng: np.random.Generator, colours: tuple[Rgb, Rgb]) -> Picture:
    n = 2480  # 4 dots a millimetre
    image = _fill(n, n, colours[0])
    faces = (cv2.FONT_HERSHEY_COMPLEX, cv2.FONT_HERSHEY_TRIPLEX)
    letters = list("aeioutrnsldmpcbgh ")
    for column in range(7):
        x, y = 30 + column * 350, 20
        while y < n - 60:
            kind = rng.random()
            if kind < 0.06:  # a photograph
                grey = cv2.resize(
                    rng.random((5, 6)).astype(np.float32), (320, 230), interpolation=cv2.INTER_CUBIC
                )
                tall = min(230, n - y)
                image[y : y + tall, x : x + 320] = (0.15 + 0.6 * np.clip(grey, 0, 1))[
                    :tall, :, None
                ]
                y += 250
            else:
                size = 1.7 if kind < 0.14 else 0.52
                text = "".join(rng.choice(letters, 34 if size < 1 else 9))
                cv2.putText(
                    image,
                    text,
                    (x, y + round(24 * size)),
                    faces[size > 1],
                    size,
                    colours[1],
                    1 + 2 * (size > 1),
                    cv2.LINE_AA,
                )
                cv2.rectangle(image, (x + 320, y - 12), (x + 349, y + 60), colours[0], -1)
                y += round(42 * size)
    return image


def lens_board() -> tuple[Picture, float, float]:
    """The ChArUco board of 7x5 squares of 30 mm with a border of 10 mm, and its size in mm."""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
    board = cv2.aruco.CharucoBoard((7, 5), 30.0, 22.0, dictionary)
    grey = board.generateImage((230 * 6, 170 * 6), marginSize=60).astype(np.float32) / 255
    return np.repeat(grey[..., None], 3, 2) * 0.9 + 0.03, 230.0, 170.0
