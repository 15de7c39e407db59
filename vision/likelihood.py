"""How likely each sampled pixel is, for every colour and face it could show, and for no piece.

Densities are over the colour space of `calibration.colour_space`, relative to the local light.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.colour import FACES, CameraColours, light_terms
from calibration.colour_space import (
    Floats32,
    as_shown,
    brightness,
    clipped_channels,
    gains_of,
    hue_when_darker,
    hue_when_mirroring,
    light_mode,
    light_of,
    log_colours,
    of_light,
    smoothed,
)
from rules.lattice import Board, Lattice
from vision.piece_light import change_by_pieces
from vision.rays import Rays, normal
from vision.shading import USUAL_CLASS, Bell, classes_of, shares_of

ImageBGR = NDArray[np.uint8]

# Contrast between pixels a little apart (in logarithms of light), in classes; how often each
# occurs at an edge of a piece's face (first row) and ever further inside. Counted on path-traced
# pictures of all kinds of pieces, flattened a little.
CONTRASTS = (0.03, 0.06, 0.10, 0.16, 0.25, 0.40, 0.70)
_ON_PIECE = np.array(
    [
        [0.010, 0.030, 0.050, 0.065, 0.075, 0.110, 0.210, 0.450],
        [0.013, 0.040, 0.070, 0.080, 0.095, 0.120, 0.202, 0.380],
        [0.030, 0.095, 0.140, 0.135, 0.115, 0.115, 0.130, 0.240],
        [0.060, 0.170, 0.235, 0.175, 0.110, 0.080, 0.075, 0.095],
        [0.090, 0.240, 0.270, 0.190, 0.090, 0.045, 0.035, 0.040],
        [0.050, 0.140, 0.170, 0.140, 0.110, 0.100, 0.110, 0.180],  # an edge or not
    ],
    dtype=np.float32,
)
SHADOWS = (-1.5, -0.9, -0.5, -0.2, 0.0)  # depths at which the hue of shadows is measured
ABOVE_MM = 80.0  # so far above the board most of the light that it throws back is lost
BAND = (0.16, 0.08, 0.08)  # levels whose colours differ by no more are one band
MOST_BANDS = 6
LAMP = 0.3  # a face that is no more brighter than the darkest one gets no light of a lamp either
ALONE = 0.95  # so surely a ray meets one face, and the next one is left out
_DARK, _STEP = -5.2, 0.05
_BRIGHTNESSES = np.arange(_DARK, 0.6, _STEP, dtype=np.float32)
_LAMPS = np.array([[1.0, 1.0, 1.0], [0.55, 1.0, 1.3]], dtype=np.float32)  # white, and warm; BGR
_SHADOW_EDGE = np.array([0.10, 0.18, 0.20, 0.17, 0.13, 0.10, 0.07, 0.05], dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class CameraEye:
    """A camera in its place, what colours look like to it, and its picture of the empty table."""

    camera: Camera
    colours: CameraColours
    empty: ImageBGR | None = None
    guessed: bool = False  # a doubtful place, and no colours were learned that would confirm it


@dataclass(frozen=True, slots=True, kw_only=True)
class LookSettings:
    """Shapes of the densities; brightness in logarithms of light, hue in the same unit."""

    piece_lit: float = 0.50  # share of a piece's pixels that look as calibrated
    piece_shaded: float = 0.38  # share in shadow: darker by about half, of less certain hue
    shade: float = -0.45
    shade_spread: float = 0.45
    shade_hue: tuple[float, float] = (0.13, 0.06)  # added to the hue's spread
    gloss: float = 0.15  # how much of its hue a face may lose or gain, one standard deviation
    rise_doubt: float = 0.15  # of what is known about the light on faces far above the board
    piece_deep: float = 0.08  # share in the dark between pieces, tinted by them
    deep: float = -1.5
    deep_spread: float = 0.8
    deep_hue: tuple[float, float] = (0.30, 0.13)
    piece_tinted: float = 0.03  # lamps of two colours, reflections, what nobody calibrated
    piece_tint: tuple[float, float, float] = (0.6, 0.40, 0.19)
    umbra: float = 0.0  # share, besides, in a full shadow, as dark as faces turned from the lamp
    umbra_spread: float = 0.4
    umbra_hue: float = 0.1  # of the board there
    board_lit: float = 0.52
    board_shaded: float = 0.31
    board_shade: float = -0.5
    board_shade_spread: float = 0.45
    board_lit_spread: float = 0.10
    board_lit_hue: float = 0.05
    board_shade_hue: float = 0.13
    board_deep: float = 0.12  # share in the dark between pieces or where one lamp gives all light
    board_deep_shade: float = -1.5
    board_deep_spread: float = 0.8
    board_deep_hue: float = 0.20
    board_tinted: float = 0.05  # reflections and tints thrown by pieces
    board_tint: tuple[float, float] = (0.6, 0.30)
    board_brighter: float = 0.2  # than the empty board, by reflections and tints
    board_bounced: float = 0.02  # share in the dark beside pieces that throw their colour at it
    board_bounce: tuple[float, float] = (-1.2, 0.7)
    board_bounced_hue: tuple[float, float, float] = (0.5, 0.3, 0.13)  # parts of a piece's; besides
    piece_mirrors: float = 0.03  # share where varnish or wax mirrors a lamp
    mirror: tuple[float, float] = (0.1, 1.5)  # so much brighter than usual, at least and at most
    mirror_hue: float = 0.15
    noise: float = 0.002  # of light; matters where it is dark
    anything: float = 0.03  # share of pixels that show something else
    anything_density: float = 0.02  # an even density over all colours that occur
    like_a_piece: float = 0.3  # pixels denser than this may be pieces
    room_moves: float = 0.35  # share of the room's pixels that changed since it was empty
    room_alike: float = 0.6  # such a pixel is less likely to look like a piece than a piece is
    clip_doubt: float = 0.5  # of what a clipped face is off its hue
    clip_weight: tuple[float, float, float, float] = (1.0, 0.5, 0.25, 0.1)
    edges: float = 1.0  # how much contrast counts; 0 for not at all
    grain: float = 2.0  # how much the board's own texture counts; 0 for not at all
    grain_noise: float = 0.03  # what two pictures of one texture differ by
    grain_tells: tuple[float, float] = (
        0.0,
        2.5,
    )  # bounds; other texture tells nothing: hands, bumps
    follows_light: bool = True  # whether a common change of light is taken out

    def shades(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How often classes of brightness occur on pieces, and where none is met."""
        usual = 0.18  # deviation of brightness on a face that was measured
        piece = shares_of(
            Bell(self.piece_lit, 0.0, usual),
            Bell(self.piece_shaded, self.shade, float(np.hypot(usual, self.shade_spread))),
            Bell(self.piece_deep, self.deep, self.deep_spread),
            Bell(self.piece_tinted, 0.0, self.piece_tint[0]),
        )
        board = shares_of(
            Bell(self.board_lit, 0.0, self.board_lit_spread),
            Bell(self.board_shaded, self.board_shade, self.board_shade_spread),
            Bell(self.board_deep, self.board_deep_shade, self.board_deep_spread),
            Bell(self.board_tinted, 0.0, self.board_tint[0]),
        )
        return piece, board


@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """The colours of pieces and of shadows on the board, as pictures show them.

    `tint` (S, 2) is the hue of shadows at `SHADOWS`, `rising` (F, 3) by how much each face of a
    piece far above the board is off one that lies on it: the board throws light back, and hides
    what is behind it.
    """

    colours: CameraColours
    tint: Floats32 | None = None
    rising: Floats32 | None = None

    def rise(self, face: int, above: float) -> Floats32:
        """By how much a face looks other than on the board, so far `above_board`."""
        if self.rising is None:
            return np.zeros(3, dtype=np.float32)
        return np.asarray(above * self.rising[face], dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class _Face:
    """What a piece's face looks like to a camera on one level."""

    mean: Floats32
    spread: Floats32  # of brightness, and of hue
    hues: Floats32  # at all `_BRIGHTNESSES`, as the lit face shows them
    hues_in_shade: Floats32  # the same where less light clips nothing any more
    clip: Floats32  # (2) from what hues a clipped face shows to those that it has
    tint: Floats32 | None
    mirrored: tuple[Floats32, ...]  # the same where it mirrors a lamp of each kind
    umbra: "_Face | None" = None  # the same colour's face that is turned away from all lamps

    @staticmethod
    def of(
        mean: Floats32,
        clip: Floats32,
        spread: Floats32,
        tint: Floats32 | None,
        lamps: Floats32 = _LAMPS[:0],
    ) -> "_Face":
        """A face that looks like this, but for what a camera cannot show: more than all light.

        It may mirror these `lamps`.
        """
        true = mean + clip
        shown = as_shown(true)
        mirrored = tuple(hue_when_mirroring(true, _BRIGHTNESSES, lamp) for lamp in lamps)
        if clip.any() or np.abs(shown - true).max() > 0.01:
            mean = shown if not clip.any() else np.minimum(mean, [shown[0], np.inf, np.inf])
            shade = hue_when_darker(true, _BRIGHTNESSES, ceiling=1.0)
            hues = hue_when_darker(mean, _BRIGHTNESSES)
            return _Face(mean, spread, hues, shade, clip[1:], tint, mirrored)
        hues = hue_when_darker(mean, _BRIGHTNESSES)
        return _Face(mean, spread, hues, hues, clip[1:], tint, mirrored)


@dataclass(frozen=True, slots=True, eq=False)
class RayLooks:
    """What the sampled pixels of one camera say: densities by colour and face, and without piece.

    `piece` is (C, B, F, N), `nothing` (N), `weight` (N); `edge` (Z, N) is the density of the
    contrast around the pixel for each zone of a face, `nothing_edge` (N) the same without piece.
    Levels that look alike are one band B; `band` (levels) tells which.
    """

    piece: Floats32
    band: NDArray[np.int8]
    nothing: Floats32
    edge: Floats32
    nothing_edge: Floats32
    weight: Floats32
    change: Floats32
    light: Floats32  # (N, 3) of the pixels, as if the light were that of the empty picture
    values: Floats32  # (N, 3) the same in colour space, as if the board were lit evenly
    shade: NDArray[np.int8]  # (C, B, F, N) classes of brightness, as if a piece were shown
    nothing_shade: NDArray[np.int8]  # (N) the same where no piece is met
    followed: Followed
    nothing_off: Floats32  # (N, 3) how far the colour is off that of the empty table
    same_grain: Floats32  # (N) how much likelier its texture is where no piece is met
    tinted: Floats32  # (N) how much likelier it is in light that pieces throw at the bare board


class EyeLooks:
    """Turns pictures of one camera into densities; holds what does not change between pictures."""

    def __init__(
        self, eye: CameraEye, rays: Rays, board: Board, settings: LookSettings | None = None
    ) -> None:
        self._eye = eye
        self._rays = rays
        self._settings = settings or LookSettings()
        self.at = (rays.px[:, 1], rays.px[:, 0])
        light = light_terms(rays.ground_mm, board.lattice.size_mm) @ eye.colours.light
        self.dimming = np.exp(-light)[:, None]
        self._faces = sorted({*np.unique(rays.face).tolist(), *np.unique(rays.other).tolist()})
        self._met = _faces_met(rays)
        lit = (eye.colours.mean + eye.colours.clip)[..., 0].mean(axis=0)
        self._umbra = np.float32(min(lit[self._turned_away(eye.colours)] - lit[0], 0.0))
        self._between = between_places(rays.ground_mm, board.lattice)
        self._above = above_board(board.lattice)
        self._faces_looked: tuple[Followed, dict[tuple[int, int, int], _Face]] | None = None
        self._empty: Floats32 | None = None
        if eye.empty is not None:
            smooth = smoothed(eye.empty)
            self._empty_light = light_of(smooth[self.at])
            self._empty_mean = self._empty_light.mean(axis=1) + 1e-4
            self._empty = of_light(self._empty_light)
            self._empty_spread = _local_spread(eye.empty, self.at)
            self._coarse = _coarse(smooth)
            self._grain = _grain(smooth, rays.px)
            self._edge_of_nothing = _edge_of_nothing(_contrast(smooth, rays.px))
            moving = ~rays.on_board
            self._edge_of_nothing[moving] += _ON_PIECE[5]
            self._edge_of_nothing[moving] /= 2
        else:
            self._edge_of_nothing = np.tile(_ON_PIECE[3], (len(rays.px), 1))

    def change_of_light(self, image: ImageBGR) -> Floats32:
        """The light's common change since the picture of the empty table."""
        if not self._settings.follows_light:
            return np.zeros(3, dtype=np.float32)
        if self._empty is None:
            pixels = self.pixels(image)[1]
            clear = self._rays.on_board & (clipped_channels(pixels) == 0)
            even = of_light(light_of(pixels[clear]) * self.dimming[clear])
            return change_by_pieces(even, self._eye.colours, self._faces)
        now = _coarse(smoothed(image))
        good = (clipped_channels(now) == 0) & (clipped_channels(self._coarse) == 0)
        good &= (now.max(axis=-1) > 20) & (self._coarse.max(axis=-1) > 20)
        return light_mode((log_colours(now) - log_colours(self._coarse))[good])

    def pixels(self, image: ImageBGR) -> tuple[ImageBGR, ImageBGR]:
        """The picture, a little smoothed where it is needed, and its sampled pixels (N, 3)."""
        smooth = image
        if len(self._rays.px):
            (x0, y0), (x1, y1) = self._rays.px.min(axis=0), self._rays.px.max(axis=0)
            part = (slice(max(y0 - 6, 0), y1 + 7), slice(max(x0 - 6, 0), x1 + 7))
            smooth = np.empty_like(image)
            smooth[part] = smoothed(image[part])
        return smooth, smooth[self.at]

    def read(self, image: ImageBGR, followed: Followed | None = None) -> RayLooks:
        """The densities of one picture."""
        change = self.change_of_light(image)
        every = np.arange(len(self._rays.px))
        return self.read_some(self.pixels(image)[0], every, change, followed)

    def read_some(
        self,
        smooth: ImageBGR,
        some: NDArray[np.int64],
        change: Floats32,
        followed: Followed | None = None,
    ) -> RayLooks:
        """The densities of some rays of a smoothed picture, under a known change of light."""
        cfg = self._settings
        followed = followed or Followed(self._eye.colours)
        px = self._rays.px[some]
        pixels = smooth[px[:, 1], px[:, 0]]
        light = light_of(pixels) / gains_of(change)
        values = of_light(light)
        even = of_light(light * self.dimming[some])
        contrast = np.digitize(_contrast(smooth, px), CONTRASTS)
        piece, shade, band = self._pieces(even, followed)
        off = self._off_nothing(values, light, some, piece)
        same_grain = self._same_grain(smooth, some)
        nothing, tinted = self._nothing(values, off, some, followed.tint)
        nothing, nothing_shade = self._in_the_room(nothing * same_grain, off, piece, some)
        return RayLooks(
            piece=piece,
            band=band,
            nothing=nothing,
            edge=_ON_PIECE[:, contrast] ** np.float32(cfg.edges),
            nothing_edge=self._edge_of_nothing[some, contrast] ** np.float32(cfg.edges),
            weight=np.array(cfg.clip_weight, dtype=np.float32)[clipped_channels(pixels)],
            change=change,
            light=light,
            values=even,
            shade=shade,
            followed=followed,
            nothing_shade=nothing_shade,
            nothing_off=off,
            same_grain=same_grain,
            tinted=tinted,
        )

    def again(self, looks: RayLooks, followed: Followed) -> RayLooks:
        """The same picture with other colours of the pieces and of shadows on the board."""
        piece, shade, band = self._pieces(looks.values, followed)
        every = np.arange(len(self._rays.px))
        values = of_light(looks.light)
        nothing, tinted = self._nothing(values, looks.nothing_off, every, followed.tint)
        nothing, nothing_shade = self._in_the_room(
            nothing * looks.same_grain, looks.nothing_off, piece, every
        )
        return replace(
            looks,
            piece=piece,
            band=band,
            shade=shade,
            followed=followed,
            nothing=nothing,
            nothing_shade=nothing_shade,
            tinted=tinted,
        )

    def _pieces(
        self, values: Floats32, followed: Followed
    ) -> tuple[Floats32, NDArray[np.int8], NDArray[np.int8]]:
        """Densities and classes of brightness (C, B, F, N), and the band of every level."""
        band, above = self._bands(followed.rising)
        colours = followed.colours
        noise = np.square(np.float32(self._settings.noise) * np.exp(-values[:, 0]))
        shape = len(colours.letters), len(above), len(FACES), len(values)
        found = np.full(shape, self._settings.anything * self._settings.anything_density, "f4")
        shade = np.zeros(shape, dtype=np.int8)
        if not len(values):
            return found, shade, band
        place = ((values[:, 0] - _DARK) / _STEP).astype(np.int32).clip(0, len(_BRIGHTNESSES) - 1)
        for (c, b, f), face in self._looks_of_faces(followed, above).items():
            found[c, b, f] += self._density_on(face, values, place, noise)
            shade[c, b, f] = classes_of(values[:, 0] - face.mean[0])
        return found, shade, band

    def _looks_of_faces(
        self, followed: Followed, above: Sequence[float]
    ) -> dict[tuple[int, int, int], _Face]:
        """What all faces look like by colour, band and direction; kept for the next picture."""
        if self._faces_looked is not None and self._faces_looked[0] is followed:
            return self._faces_looked[1]
        colours = followed.colours
        looks = {}
        away = self._turned_away(colours)
        for c, b, f in product(range(len(colours.letters)), range(len(above)), self._faces):
            rise = followed.rise(f, above[b])
            face = _Face.of(
                colours.mean[c, f] + rise,
                colours.clip[c, f],
                np.hypot(colours.spread[c, f], self._settings.rise_doubt * np.abs(rise[:2])),
                followed.tint if f == 0 and self._empty is not None else None,
                _LAMPS if f == 0 else _LAMPS[:0],  # lamps hang above
            )
            lit = colours.mean[c, f, 0] + colours.clip[c, f, 0]
            if self._settings.umbra and lit > colours.mean[c, away, 0] + LAMP:
                mean, clip = colours.mean[c, away], colours.clip[c, away]
                face = replace(face, umbra=_Face.of(mean, clip, colours.spread[c, away], None))
            looks[c, b, f] = face
        self._faces_looked = followed, looks
        return looks

    def _turned_away(self, colours: CameraColours) -> int:
        """The darkest face that is seen: if there is one on which no lamp shines, it is that."""
        return min(self._faces, key=lambda f: float(colours.mean[:, f, 0].mean()), default=0)

    def _bands(self, rising: Floats32 | None) -> tuple[NDArray[np.int8], list[float]]:
        """The band of every level, and how far above the board each band is."""
        most = 0.0
        if rising is not None:
            most = float(np.abs(rising[self._faces] / BAND).max(initial=0.0) * self._above[-1])
        if most <= 1:
            return np.zeros(len(self._above), dtype=np.int8), [0.0]
        many = min(math.ceil(most), MOST_BANDS)
        place = np.minimum(self._above / self._above[-1] * many, many - 1).astype(int)
        _, band = np.unique(place, return_inverse=True)
        above = np.bincount(band, self._above) / np.bincount(band)
        return band.astype(np.int8), above.tolist()

    def _density_on(
        self, face: "_Face", values: Floats32, place: NDArray[np.int32], noise: Floats32
    ) -> Floats32:
        """How likely pixels are on such a face; `place` is that of their brightness."""
        cfg = self._settings
        off = values[:, 0] - face.mean[0]
        bright, hue = face.spread
        lit = values[:, 1:] - face.hues.take(place, axis=0)
        far = lit
        if face.hues_in_shade is not face.hues:
            far = values[:, 1:] - face.hues_in_shade.take(place, axis=0)
        if face.tint is not None:
            far = far - tint_at(off, face.tint)  # tops lie level like the board
        # Gloss adds white light: hues differ most along the line to grey.
        grey = face.mean[1:]
        gloss = cfg.gloss**2 * np.outer(grey, grey)
        same = hue**2 * np.eye(2, dtype=np.float32)
        own = cfg.piece_lit * _density(off, lit, bright, same + gloss, noise)
        beyond = cfg.clip_doubt**2 * np.outer(face.clip, face.clip)  # how far nobody has seen
        own += cfg.piece_shaded * _density(
            off - cfg.shade,
            far,
            np.hypot(bright, cfg.shade_spread),
            same + gloss + beyond + _square(cfg.shade_hue),
            noise,
        )
        if cfg.umbra and face.umbra is not None:
            away = face.umbra
            own += cfg.umbra * _density(
                values[:, 0] - away.mean[0],
                values[:, 1:] - away.hues.take(place, axis=0),
                np.hypot(away.spread[0], cfg.umbra_spread),
                away.spread[1] ** 2 * np.eye(2, dtype=np.float32) + _square(cfg.shade_hue),
                noise,
            )
        own += cfg.piece_deep * _density(
            off - cfg.deep, far, cfg.deep_spread, same + beyond + _square(cfg.deep_hue), noise
        )
        far_off, *far_hue = cfg.piece_tint
        own += cfg.piece_tinted * _density(off, far, far_off, _square(far_hue), noise)
        least, most = cfg.mirror
        brighter = np.clip((off - least) / least, 0, 1) * (off < most)
        for hues in face.mirrored:
            away = np.square(values[:, 1:] - hues.take(place, axis=0)).sum(axis=1)
            near = np.exp(-0.5 * away / cfg.mirror_hue**2) / (2 * math.pi * cfg.mirror_hue**2)
            share = cfg.piece_mirrors / len(face.mirrored) / (most - least)
            own += np.float32(share) * brighter * near
        return np.asarray(own)

    def _same_grain(self, smooth: ImageBGR, some: NDArray[np.int64]) -> Floats32:
        """How much likelier the texture around rays is if no piece is met: it shows in shadows."""
        cfg = self._settings
        if self._empty is None or not cfg.grain:
            return np.ones(len(some), dtype=np.float32)
        now, before = _grain(smooth, self._rays.px[some]), self._grain[some]
        noise = np.float32(cfg.grain_noise) ** 2
        alone, left = (np.square(d).mean(axis=1) + noise for d in (now, now - before))
        least, most = cfg.grain_tells
        return np.asarray(np.exp(np.clip(cfg.grain * np.log(alone / left), least, most)))

    def _bare_board(self, values: Floats32, some: NDArray[np.int64], piece: Floats32) -> Floats32:
        """Without a picture of the empty table: the commonest colour on the board is the board."""
        cfg = self._settings
        tops = self._eye.colours.mean[:, 0]
        far = np.abs(values[:, None] - tops[None])
        alike = ((far[..., 1:].max(axis=2) < 0.8) & (far[..., 0] < 1.0)).any(axis=1)
        board = self._rays.on_board[some]
        bare = board & ~alike & (piece.max(axis=(0, 1, 2)) < cfg.like_a_piece)
        # What lies between the places is no piece, whatever else looks like none.
        for found in (bare & self._between[some], bare):
            if found.sum() >= 50:
                board = found
                break
        return light_mode(np.asarray(values[board]))

    def _in_the_room(
        self, nothing: Floats32, off: Floats32, piece: Floats32, some: NDArray[np.int64]
    ) -> tuple[Floats32, NDArray[np.int8]]:
        """Rays that end in the room may show anything there, also somebody dressed like a piece.

        Like the faces that a ray may meet: a tower in the shade looks like a lit one's other faces.
        Somebody there stands in the usual light: how bright the room was tells nothing of him.
        """
        cfg = self._settings
        moving = np.flatnonzero(~self._rays.on_board[some])
        met = np.where(self._met[:, some[moving]], piece[..., moving].max(axis=(0, 1)), 0.0)
        still = (1 - cfg.room_moves) * nothing[moving]
        somebody = cfg.room_moves * cfg.room_alike * met.max(axis=0, initial=0.0)
        anything = 3 * cfg.anything * cfg.anything_density
        found, shade = nothing.copy(), classes_of(off[:, 0])
        found[moving] = still + somebody
        shade[moving[(somebody > still) | (nothing[moving] < anything)]] = USUAL_CLASS
        return found, shade

    def _off_nothing(
        self, values: Floats32, light: Floats32, some: NDArray[np.int64], piece: Floats32
    ) -> Floats32:
        """How far pixels are off the empty table: in brightness, and in hue at their brightness."""
        if self._empty is None:
            return np.asarray(values - self._bare_board(values, some, piece))
        share = np.minimum((light.mean(axis=1) + 1e-4) / self._empty_mean[some], 4.0)
        expected = of_light(self._empty_light[some] * share[:, None])
        off = values - expected
        off[:, 0] = values[:, 0] - self._empty[some, 0]
        return np.asarray(off)

    def _nothing(
        self, values: Floats32, off: Floats32, some: NDArray[np.int64], tint: Floats32 | None
    ) -> tuple[Floats32, Floats32]:
        """How likely pixels are where no piece is met, and how much likelier in tinted light."""
        cfg = self._settings
        noise = np.square(np.float32(cfg.noise) * np.exp(-values[:, 0]))
        bright, hue = off[:, 0], off[:, 1:]
        if tint is not None:
            hue = hue - tint_at(bright, tint)
        even = np.float32(cfg.anything * cfg.anything_density)
        one = np.eye(2, dtype=np.float32)
        if self._empty is None:
            found = cfg.board_lit * _density(bright, hue, 0.3, 0.12**2 * one, noise)
            found += cfg.board_shaded * _density(
                bright - cfg.board_shade, hue, 0.6, 0.2**2 * one, noise
            )
            found += cfg.board_deep * _density(bright + 1.0, hue, 1.0, 0.35**2 * one, noise)
            if cfg.umbra:
                hues = cfg.umbra_hue**2 * one
                found += cfg.umbra * _density(
                    bright - self._umbra, hue, cfg.umbra_spread, hues, noise
                )
            return np.asarray(found + even), np.ones_like(bright)
        about, about_hue = (spread[some] for spread in self._empty_spread)
        rough = noise + about_hue**2
        lit = _density(
            bright,
            hue,
            np.hypot(cfg.board_lit_spread, about),
            cfg.board_lit_hue**2 * one,
            noise,
            rough,
        )
        shaded = _density(
            bright - cfg.board_shade,
            hue,
            np.hypot(cfg.board_shade_spread, about),
            cfg.board_shade_hue**2 * one,
            noise,
            rough,
        )
        deep = _density(
            bright - cfg.board_deep_shade,
            hue,
            cfg.board_deep_spread,
            cfg.board_deep_hue**2 * one,
            noise,
            rough,
        )
        tint_off, tint_hue = cfg.board_tint
        # Reflections make the board a little brighter than when it was empty, shade a lot darker.
        rarer = np.where(bright > 0, bright * np.float32(tint_off / cfg.board_brighter), bright)
        tinted = _density(rarer, hue, tint_off, tint_hue**2 * one, noise)
        found = cfg.board_lit * lit + cfg.board_shaded * shaded
        found += cfg.board_deep * deep + cfg.board_tinted * tinted
        if cfg.umbra:
            # The board looks up like the tops, and shadows take as much light from it.
            spread = np.hypot(cfg.umbra_spread, about)
            hues = cfg.umbra_hue**2 * one
            found += cfg.umbra * _density(bright - self._umbra, hue, spread, hues, noise, rough)
        bounced = self._bounced(bright, hue, noise, rough)
        found = np.asarray(found + cfg.board_bounced * bounced + even, dtype=np.float32)
        return found, (bounced + even) / found

    def _bounced(
        self, bright: Floats32, hue: Floats32, noise: Floats32, rough: Floats32
    ) -> Floats32:
        """How likely the board looks so in the dark, in light that pieces throw back at it.

        It is anything between the shadow's hue and that of a piece.
        """
        shade, spread = self._settings.board_bounce
        part, part_spread, besides = self._settings.board_bounced_hue
        tops = self._eye.colours.mean[:, 0, 1:]
        found = np.zeros(len(bright), dtype=np.float32)
        for top in tops:
            around = part_spread**2 * np.outer(top, top) + besides**2 * np.eye(2, dtype=np.float32)
            own = _density(bright - shade, hue - part * top, spread, around, noise, rough)
            found += own / np.float32(len(tops))
        return found


def _faces_met(rays: Rays) -> NDArray[np.bool_]:
    """Which faces (F, N) of pieces every ray may show."""
    met = np.zeros((len(FACES), len(rays.px)), dtype=bool)
    for start, many in rays.slots:
        entries, ray = np.arange(start, start + many), np.arange(many)
        met[rays.face[entries], ray] = True
        near = rays.share[entries] < ALONE
        met[rays.other[entries[near]], ray[near]] = True
    return met


def above_board(lattice: Lattice) -> Floats32:
    """How far each level is out of the light that the board throws back: 0 lowest, 1 far up."""
    above_mm = np.arange(lattice.levels) * lattice.unit_mm[2]
    return np.asarray(1 - np.exp(-above_mm / ABOVE_MM), dtype=np.float32)


def between_places(ground_mm: Floats32, lattice: Lattice) -> NDArray[np.bool_]:
    """Which points (N, 2) of the board's plane lie beside every place where pieces stand."""
    off = np.abs((ground_mm / np.float32(lattice.pitch_mm)) % 1 - 0.5) * lattice.pitch_mm
    inside = (ground_mm >= 0).all(axis=1) & (ground_mm <= lattice.size_mm[:2]).all(axis=1)
    return np.asarray(inside & (off > np.array(lattice.unit_mm[:2]) / 2).any(axis=1))


def tint_at(bright: Floats32, tint: Floats32) -> Floats32:
    """The hue (N, 2) of shadows of these depths, given those (S, 2) at `SHADOWS`."""
    columns = [np.interp(bright, SHADOWS, tint[:, i]) for i in (0, 1)]
    return np.stack(columns, axis=1).astype(np.float32)


def _square(spread: Sequence[float]) -> Floats32:
    """The covariance of hue whose axes have these deviations."""
    return np.diag(np.square(spread)).astype(np.float32)


def _density(
    bright: Floats32,
    hue: Floats32,
    bright_spread: Floats32 | float,
    around: Floats32,
    noise: Floats32,
    hue_noise: Floats32 | None = None,
) -> Floats32:
    """A normal density over brightness and hue (N, 2) of covariance `around`, widened by noise."""
    wide = bright_spread * bright_spread + noise
    (a, b), (_, d) = around.tolist()
    turn = 0.5 * math.atan2(2 * b, a - d)
    cos, sin = math.cos(turn), math.sin(turn)
    turned = hue @ np.array([[cos, -sin], [sin, cos]], dtype=np.float32)
    middle, apart = 0.5 * (a + d), math.hypot(0.5 * (a - d), b)
    more = noise if hue_noise is None else hue_noise
    one, two = np.float32(middle + apart) + more, np.float32(middle - apart) + more
    exponent = bright * bright / wide + turned[:, 0] ** 2 / one + turned[:, 1] ** 2 / two
    return np.asarray(np.exp(-0.5 * exponent) / (15.75 * np.sqrt(wide * one * two)))


def _local_spread(image: ImageBGR, at: tuple[NDArray[np.int32], ...]) -> tuple[Floats32, Floats32]:
    """Deviation of brightness and hue around each sampled pixel of the empty table.

    On a printed line or an edge a movement of half a pixel changes the colour.
    """
    values = log_colours(image)
    mean = cv2.blur(values, (3, 3))
    square = cv2.blur(values * values, (3, 3))
    deviation = np.sqrt(np.maximum(square - mean * mean, 0))[at]
    return deviation[:, 0], deviation[:, 1:].mean(axis=1)


def _coarse(smooth: ImageBGR) -> ImageBGR:
    step = max(4, smooth.shape[1] // 80)
    return smooth[step // 2 :: step, step // 2 :: step].reshape(-1, 3)


def _contrast(smooth: ImageBGR, px: NDArray[np.int32], apart: int = 2) -> Floats32:
    """How much the colour changes around each sampled pixel, across or along."""
    height, width = smooth.shape[:2]
    x, y = px[:, 0], px[:, 1]
    left, right = np.maximum(x - apart, 0), np.minimum(x + apart, width - 1)
    above, below = np.maximum(y - apart, 0), np.minimum(y + apart, height - 1)
    across = log_colours(smooth[y, right]) - log_colours(smooth[y, left])
    along = log_colours(smooth[below, x]) - log_colours(smooth[above, x])
    squares = np.maximum((across * across).sum(axis=1), (along * along).sum(axis=1))
    return np.asarray(np.sqrt(squares))


def _grain(smooth: ImageBGR, px: NDArray[np.int32], around: int = 3) -> Floats32:
    """The brightness (N, K) around each sampled pixel, less its mean."""
    height, width = smooth.shape[:2]
    down, across = np.mgrid[-around : around + 1, -around : around + 1].reshape(2, 1, -1)
    y = np.clip(px[:, 1:] + down, 0, height - 1)
    x = np.clip(px[:, :1] + across, 0, width - 1)
    values = brightness(smooth.reshape(-1, 3).take(y * width + x, axis=0))
    return np.asarray(values - values.mean(axis=1, keepdims=True))


def _edge_of_nothing(empty: Floats32) -> Floats32:
    """How often each class of contrast (N, 8) occurs where the empty table shows this one."""
    spread = 0.025 + 0.25 * empty
    bounds = np.array([-np.inf, *CONTRASTS, np.inf])
    same = np.diff(normal((bounds - empty[:, None]) / spread[:, None]), axis=1)
    return np.asarray(0.8 * same + 0.2 * _SHADOW_EDGE, dtype=np.float32)
