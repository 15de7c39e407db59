"""`kiebitz bench`: tables of accuracy, speed and endurance that anybody can make again."""

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def bench() -> None:
    """Measure Kiebitz on this machine."""


# Options that several benches share.
Scenes = Annotated[int, typer.Option(metavar="N", help="Scenes of each game and rig.")]
Each = Annotated[int, typer.Option(metavar="N", help="Positions in each scene.")]
SceneSeed = Annotated[int, typer.Option(metavar="N", help="Same seed, same scenes.")]
GameSeed = Annotated[int, typer.Option(metavar="N", help="Same seed, same games.")]
Family = Annotated[str, typer.Option(metavar="FAMILY", help="tune or check.")]
Games = Annotated[
    list[str] | None, typer.Option(metavar="GAME", help="Only this game; may be repeated.")
]
Rigs = Annotated[list[str] | None, typer.Option(metavar="RIG", help="one, two, three or corners.")]


@app.command()
def rules(
    games: Annotated[int, typer.Option(metavar="N", help="Random games of each kind.")] = 50,
    seconds: Annotated[
        float, typer.Option(metavar="S", help="Time for the speed of each game.")
    ] = 3.0,
    seed: GameSeed = 1,
    game: Games = None,
) -> None:
    """Speed and consistency of the rules engines, against python-chess in the same run."""
    from rules.registry import GAMES, find_game
    from service.bench import rules as measured
    from service.bench.table import print_table

    chosen = (find_game(name).set_up() for name in game or (g for g in GAMES if g != "free"))
    print_table(
        measured.Row.HEAD, (row.texts() for row in measured.rows(chosen, games, seconds, seed))
    )


@app.command()
def read(
    scenes: Scenes = 4,
    each: Each = 12,
    family: Family = "check",
    seed: SceneSeed = 1,
    game: Games = None,
    rig: Rigs = None,
    traced: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Read the traced sample tables below this folder."),
    ] = None,
    lens: Annotated[
        bool, typer.Option(help="With --traced: calibrate lenses by their pictures first.")
    ] = True,
) -> None:
    """Positions read exactly, wrong units told as certain, doubt and speed, by game and rig.

    With --traced, tables are calibrated and read as a user would, by all cameras and by each.
    """
    from rules.registry import GAMES, find_game
    from service.bench import read as measured
    from service.bench.table import print_table
    from service.bench.traced import traced_rows

    names = game or [name for name in GAMES if name != "free"]
    rows: list[measured.ReadRow] = []

    def found() -> Iterator[measured.ReadRow]:
        if traced is not None:
            yield from traced_rows(traced, set(names), lens=lens)
            return
        for name in names:
            for place in rig or ["two", "one"]:
                yield measured.virtual_row(find_game(name), place, family, scenes, each, seed)

    def texts() -> Iterator[tuple[str, ...]]:
        for row in found():
            rows.append(row)
            yield row.texts()
        if len(rows) > 1:
            yield measured.together(rows).texts()

    print_table(measured.ReadRow.HEAD, texts())
    print()
    print_table(
        ("certainty", "readings", "nothing sure was wrong", "%"), measured.reliability(rows)
    )
    for row in rows:
        for failure in row.failures:
            sys.stderr.write(f"{row.game} {row.rig} {failure}\n")


@app.command()
def ingredients(
    scenes: Scenes = 2,
    each: Each = 6,
    family: Family = "check",
    seed: SceneSeed = 1,
    game: Games = None,
    rig: Rigs = None,
) -> None:
    """What each part of the reader brings, and what other light does: rows with one thing changed.

    Light changes by a stop and by 1,500 kelvin after the table was calibrated.
    """
    from rules.registry import GAMES, find_game
    from service.bench import altered
    from service.bench import read as measured
    from service.bench.table import print_table

    names = game or [name for name in GAMES if name != "free"]

    def texts() -> Iterator[tuple[str, ...]]:
        for title, other in altered.VARIANTS.items():
            rows = [
                measured.virtual_row(find_game(name), place, family, scenes, each, seed, other)
                for name in names
                for place in rig or ["two", "one"]
            ]
            yield (title, *measured.together(rows).texts()[2:])

    print_table(("changed", *measured.ReadRow.HEAD[2:]), texts())


@app.command()
def calibrate(
    scenes: Scenes = 2,
    family: Family = "check",
    seed: SceneSeed = 1,
    game: Games = None,
    rig: Rigs = None,
    traced: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Traced sample tables, calibrated as well."),
    ] = None,
    markers: Annotated[bool, typer.Option(help="Use the markers that lie on the table.")] = True,
) -> None:
    """Poses found, what was told of them, and how far they are off."""
    from service.bench import calibrate as measured
    from service.bench.table import print_table

    rows: list[measured.PoseRow] = []

    def texts() -> Iterator[tuple[str, ...]]:
        drawn = measured.virtual_cases(game, rig, scenes, family, seed)
        for case in chain(drawn, measured.traced_cases(traced, game) if traced else ()):
            for row in measured.case_rows(case, (True, False), markers=markers):
                rows.append(row)
                yield row.texts()

    print_table(measured.PoseRow.HEAD, texts())
    print()
    print_table(measured.SUMS_HEAD, measured.sums(rows))


@app.command()
def bumps(
    scenes: Annotated[int, typer.Option(metavar="N", help="Scenes of each game.")] = 1,
    family: Family = "check",
    seed: SceneSeed = 1,
    game: Games = None,
) -> None:
    """Bumped cameras noticed and found again, and how far they are off."""
    from rules.registry import GAMES
    from service.bench import bumps as measured
    from service.bench.table import print_table

    names = game or [name for name in GAMES if name != "free"]
    found = measured.rows(names, scenes, family, seed)
    print_table(measured.BumpRow.HEAD, (row.texts() for row in found))


@app.command()
def crash(
    writers: Annotated[
        int, typer.Option(metavar="N", help="How often the storage writer is killed.", min=0)
    ] = 1000,
    servers: Annotated[
        int, typer.Option(metavar="N", help="How often the whole server is killed.", min=0)
    ] = 50,
    seed: Annotated[int, typer.Option(metavar="N", help="Same seed, same moments.")] = 1,
) -> None:
    """Kill -9 at any moment: no turn that was accepted may be lost."""
    from service.bench.crash import Crashes, crash_server, crash_writer
    from service.bench.table import print_table

    found = []
    if writers:
        found.append(crash_writer(writers, seed))
    if servers:
        found.append(crash_server(servers, seed))
    print_table(Crashes.HEAD, (crashes.texts() for crashes in found))
    if not all(crashes.good for crashes in found):
        raise typer.Exit(1)


@app.command()
def load(
    onlookers: Annotated[int, typer.Option(metavar="N", help="Pages that follow events.")] = 200,
    viewers: Annotated[int, typer.Option(metavar="N", help="Pages that show pictures.")] = 10,
    seconds: Annotated[float, typer.Option(metavar="S", help="How long to measure.")] = 20.0,
    pace: Annotated[float, typer.Option(metavar="S", help="Seconds from scene to scene.")] = 0.5,
) -> None:
    """Many people watch one game: how late events come, and what it costs."""
    from service.bench import load as measured
    from service.bench.table import print_table

    rows = []
    if onlookers:
        rows.append(measured.onlookers(onlookers, seconds, pace))
    if viewers:
        rows.append(measured.viewers(viewers, seconds))
    print_table(measured.Load.HEAD, (row.texts() for row in rows))


@app.command()
def watch(
    games: Annotated[int, typer.Option(metavar="N", help="Games of each kind.", min=0)] = 2,
    turns: Annotated[int, typer.Option(metavar="N", help="Turns a game.", min=1)] = 25,
    seed: GameSeed = 1,
    game: Games = None,
    turned: Annotated[
        bool, typer.Option("--turned", help="Let players turn TURRIS's felt and CUBE's board.")
    ] = False,
    excerpts: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Sample tables with traced excerpts, followed as well."),
    ] = None,
) -> None:
    """Whole games followed as recordings: turns, flags, delays and speed."""
    import tempfile

    from rules.registry import find_game
    from service.bench import watch as measured
    from service.bench.excerpts import excerpt_rows, excerpt_tables
    from service.bench.table import print_table

    specs = [find_game(name) for name in game or measured.RIGS]

    def rows() -> Iterator[measured.WatchRow]:
        if games:
            yield from measured.rows(specs, games, turns, seed, turned=turned)
        if excerpts is not None:
            with tempfile.TemporaryDirectory() as work:
                yield from excerpt_rows(excerpt_tables(excerpts, game or ()), Path(work))

    def texts() -> Iterator[tuple[str, ...]]:
        for row in rows():
            yield row.texts()
            for mistake in row.counts.mistakes if row.game != "all" else ():
                sys.stderr.write(f"{mistake}\n")

    print_table(measured.WatchRow.HEAD, texts())


@app.command()
def soak(
    minutes: Annotated[float, typer.Option(metavar="M", help="Minutes of frames.", min=0.5)] = 60,
    breaks: Annotated[int, typer.Option(metavar="N", help="How often a camera fails.")] = 50,
    seed: Annotated[int, typer.Option(metavar="N", help="Same seed, same failures.")] = 1,
) -> None:
    """An hour of frames with cameras that fail at random: memory, and what is told of it."""
    from service.bench.soak import Soak
    from service.bench.soak import soak as endure
    from service.bench.table import print_table

    found = endure(minutes, breaks, seed)
    print_table(Soak.HEAD, [found.texts()])
    if not found.good:
        raise typer.Exit(1)
