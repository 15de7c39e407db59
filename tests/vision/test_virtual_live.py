"""Scripts, plays and virtual cameras as sources."""

import time
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest

from rules.blocks import torn
from rules.pieces import BLOCK
from rules.record import parse_record
from rules.registry import find_game
from rules.stacks import Stacks
from rules.turn import parse_move
from vision.errors import SourceError
from vision.frame import Recorded, Source
from vision.virtual.games import CALM, Mischief, random_record, random_script
from vision.virtual.live import VirtualTable, open_table, play_scene, virtual_sources
from vision.virtual.placing import pieces_of, stacks_of
from vision.virtual.play import pieces_after, rehearse, undone
from vision.virtual.script import parse_script

RECORD = """game = kewbz
size = 8
players = B Y

B +d4B
Y +d5Y
B +c5B +d5B
Y +c4Y
Y +c3Y
"""
SCRIPT = RECORD.replace(
    "Y +d5Y\n",
    "@ scene seed=7 family=tune rig=two pace=2\n@ bump overhead 0.6\n@ lamp 1 0.3\n"
    "Y +d5Y\n@ passer 1.5\n@ drop side 0.5\n@ turn-board 90 10 -5\n@ hand 9 e5\n",
)
SHORT = """game = kewbz

@ scene seed=4 rig=two
B +d4B
@ drop side 0.5
"""
BUSY = "B +d4B\nY +d5Y\nB +c5B +d5B\nY +e5Y\nB +e4B\nY +d6Y\n"
GAMES = ("kewbz", "qbq", "ksar", "kwinty", "turris", "cube")
SMALL = (320, 180)


def small_table(text: str) -> VirtualTable:
    """The virtual table of a script with small pictures."""
    script = parse_script(text)
    return VirtualTable(play_scene(script, size=SMALL), rehearse(script))


class TestScripts:
    """What a script says and what it may not say."""

    def test_a_plain_record_is_a_script(self) -> None:
        """A game record plays without a single direction."""
        script = parse_script(RECORD)

        assert len(script.record.lines) == 5
        assert not script.directions

    def test_directions_stand_between_turns(self) -> None:
        """Directions keep their place, the scene its settings, and the record its lines."""
        script = parse_script(SCRIPT)

        assert [d.words[0] for d in script.directions] == [
            "bump", "lamp", "passer", "drop", "turn-board", "hand",
        ]  # fmt: skip
        assert script.scene == {"seed": "7", "family": "tune", "rig": "two", "pace": "2"}
        assert [str(line) for line in script.record.lines] == [
            str(line) for line in parse_record(RECORD).lines
        ]

    @pytest.mark.parametrize(
        "line",
        [
            "@ jump",
            "@",
            "@ lamp one 2",
            "@ bump overhead",
            "@ hand 6 z99z",
            "@ turn-board 90 1 2 z99z",
            "@ turn-board 90 1 2 a1 b1",
            "@ wait nan",
            "@ lamp 1 -4",
            "@ turn-board inf",
            "@ scene sea=4",
            "@ scene seed=x",
            "@ scene seed=-3",
            "@ scene pace=0",
        ],
        ids=[
            "unknown",
            "empty",
            "number",
            "missing",
            "cell",
            "holder",
            "more",
            "nan",
            "dark",
            "endless",
            "setting",
            "seed",
            "negative",
            "pace",
        ],
    )
    def test_a_wrong_direction_is_told_with_its_line(self, line: str) -> None:
        """Mistakes in a script are errors in words that name the line."""
        with pytest.raises(SourceError, match="line 11"):
            parse_script(RECORD + "\n" + line)

    def test_a_camera_that_is_not_there_is_told(self, tmp_path: Path) -> None:
        """A direction that names a camera of another rig is an error in words."""
        path = tmp_path / "game.txt"
        path.write_text(SHORT.replace("drop side", "drop left"), "utf-8")

        with pytest.raises(SourceError, match="line 5: there is no camera 'left' to drop"):
            open_table(path)

    @pytest.mark.parametrize("rig", ["one", "two", "three", "corners"])
    @pytest.mark.parametrize("name", ["kewbz", "kwinty"])
    def test_random_games_bump_cameras_that_are_there(self, name: str, rig: str) -> None:
        """What is bumped or drops frames in a random game is a camera of its rig."""
        script = random_script(find_game(name), 2, 30, rig=rig, mischief=Mischief(bumps=0.5))

        named = {d.words[1] for d in script.directions if d.words[0] in ("bump", "drop")}

        assert named
        assert named <= set(play_scene(script, size=SMALL).cameras)

    def test_a_missing_script_is_told(self, tmp_path: Path) -> None:
        """A file that is not there is an error in words."""
        with pytest.raises(SourceError, match="cannot read the script"):
            open_table(tmp_path / "nothing.txt")


class TestPlays:
    """What happens when, and what is true."""

    def test_the_truth_has_every_turn_with_its_verdict(self) -> None:
        """An illegal turn is told as such and taken back before the next one."""
        play = rehearse(parse_script(SCRIPT))

        turns = [e for e in play.truth if e.event == "turn"]
        assert [e.data["legal"] for e in turns] == [True, True, True, False, True]
        assert sum(e.event == "taken-back" for e in play.truth) == 1
        assert sum(e.event == "turned" for e in play.truth) == 1
        assert [e.t for e in play.truth] == sorted(e.t for e in play.truth)
        assert play.seconds > play.truth[-1].t

    def test_pieces_stand_as_the_truth_says(self) -> None:
        """At the time of every turn, no hand is there and its stacks stand on the table."""
        play = rehearse(parse_script(SCRIPT))

        for event in play.truth:
            if event.event == "turn":
                moment = play.moment(event.t + 0.01)
                standing = stacks_of(play.snapshots[moment.pieces][1])
                assert standing == Stacks.of(event.data["stacks"])
                assert not play.busy(event.t + 0.01)
                assert play.busy(event.t - 0.05)

    @pytest.mark.parametrize("name", GAMES)
    def test_random_games_of_every_kind_can_be_played(self, name: str) -> None:
        """Legal turns, kept and taken-back ones follow each other, and the table agrees."""
        script = random_script(
            find_game(name), 3, 12, mischief=Mischief(illegal=0.4, kept=0.4, turned=0.2)
        )

        play = rehearse(script)

        turns = [e for e in play.truth if e.event == "turn"]
        told = {e.event for e in play.truth}
        assert len(turns) >= 8
        assert any(not e.data["legal"] for e in turns)
        assert "taken-back" in told or "kept" in told
        for event in turns:
            moment = play.moment(event.t + 0.01)
            standing = stacks_of(play.snapshots[moment.pieces][1])
            assert standing == Stacks.of(event.data["stacks"])

    @pytest.mark.slow
    @pytest.mark.parametrize("name", GAMES)
    def test_forty_games_of_every_kind_differ(self, name: str) -> None:
        """Forty seeds give forty games, played to their end or for sixty turns."""
        spec = find_game(name)
        scripts = [
            random_script(spec, seed, 60, mischief=Mischief(turned=0.1)) for seed in range(40)
        ]

        turns = [[e for e in rehearse(script).truth if e.event == "turn"] for script in scripts]

        assert len({str(script.record) for script in scripts}) == 40
        assert min(map(len, turns)) >= 5
        assert np.mean([len(each) for each in turns]) > 20
        assert any(not e.data["legal"] for each in turns for e in each)

    @pytest.mark.parametrize("name", GAMES)
    def test_calm_games_are_legal(self, name: str) -> None:
        """Without mischief every turn of a random game is legal."""
        play = rehearse(random_script(find_game(name), 5, 10, mischief=CALM))

        assert all(e.data["legal"] for e in play.truth if e.event == "turn")

    def test_a_stranger_may_play(self) -> None:
        """A turn of somebody who is not in the game happens on the table, and is illegal."""
        play = rehearse(parse_script(RECORD + "Z +e5Y\n"))

        turns = [e for e in play.truth if e.event == "turn"]
        assert turns[-1].data["player"] == "Z"
        assert not turns[-1].data["legal"]
        assert "e5" in turns[-1].data["stacks"]

    def test_equal_seeds_give_equal_games(self) -> None:
        """A record is a function of its seed."""
        spec = find_game("kewbz")
        mischief = Mischief(0.3, 0.5)

        first, second = (random_record(spec, 9, 15, mischief=mischief) for _ in range(2))

        assert str(first) == str(second)
        assert str(first) != str(random_record(spec, 10, 15, mischief=mischief))

    def test_nobody_saws_a_block_through(self) -> None:
        """Illegal turns take whole blocks, too: what is left falls into blocks in every scene."""
        spec = find_game("turris")
        script = random_script(spec, 51001, 20, family="check", rig="corners", mischief=Mischief())

        turns = [e for e in rehearse(script).truth if e.event == "turn"]

        assert len(turns) == 20
        assert not any(torn(spec.kit, Stacks.of(e.data["stacks"])) for e in turns)

    def test_changes_are_undone(self) -> None:
        """Whatever hands did, taking it back leads to what stood before."""
        before = Stacks.of({"a1": "LL", "b1": "D", "c1": "D"})
        changes, _ = parse_move("+b1~c1L +a1^D -b1~c1 -a1^")
        pieces = pieces_of(before, [BLOCK])
        for change in changes[:2]:
            pieces = pieces_after(pieces, change)

        for change in undone(before, changes[:2]):
            pieces = pieces_after(pieces, change)

        assert stacks_of(pieces) == before


class TestSources:
    """Virtual cameras as any other source."""

    def test_they_keep_the_protocol(self) -> None:
        """Each camera is a source with times of its own."""
        table = small_table(RECORD)

        for name, source in table.sources.items():
            assert isinstance(source, Source)
            assert isinstance(source, Recorded)
            assert source.camera == name

    def test_a_play_gives_the_same_bytes_every_time(self) -> None:
        """Two runs of one script give equal frames, and so does a second pass."""
        first, second = (small_table(SHORT).sources["side"] for _ in range(2))

        one = [frame.jpeg for frame in first.frames()]
        other = [frame.jpeg for frame in second.frames()]
        again = [frame.jpeg for frame in islice(first.frames(), 60)]

        assert one == other
        assert one[:60] == again
        assert len(one) > 100

    def test_frames_follow_each_other_in_time(self) -> None:
        """Times grow by a fifteenth of a second, but where frames were dropped."""
        source = small_table(SHORT).sources["side"]

        seconds = np.array([frame.seconds for frame in source.frames()])
        steps = np.diff(seconds)

        assert np.median(steps) == pytest.approx(1 / 15, abs=1e-3)
        assert steps.min() > 0.06
        assert steps.max() > 0.4

    def test_hands_move_and_then_the_table_is_still(self) -> None:
        """Much of the picture changes while a hand is there, little but noise when it is gone."""
        table = small_table(SHORT)
        source = table.sources["overhead"]
        frames = {round(f.seconds * 15): f for f in source.frames()}
        moving: list[float] = []
        still: list[float] = []
        for number, frame in frames.items():
            if number + 1 in frames:
                change = np.abs(frames[number + 1].image.astype(int) - frame.image).max(axis=-1)
                delay = table.scene.sensors["overhead"].delay_s
                busy = [table.play.busy(frame.seconds + d - delay) for d in (0, 0.067)]
                (moving if all(busy) else still if not any(busy) else []).append(
                    float((change > 40).mean())
                )

        assert np.percentile(moving, 75) > 0.01
        assert np.percentile(still, 90) < 0.002

    def test_the_newest_frame_wins(self) -> None:
        """`latest` follows the clock, skips what was missed, and gives nothing twice."""
        now = 100.0
        table = small_table(RECORD)
        source = table.sources["side"]
        source._clock = lambda: now

        begun = source.latest()
        now += 0.5
        later = source.latest()
        again = source.latest()
        now += 1000.0
        after_the_end = source.latest()

        assert begun is None or begun.seconds < 0.1
        assert later is not None
        assert later.seconds > 0.3
        assert again is None
        assert after_the_end is not None

    def test_a_bumped_camera_stands_elsewhere(self) -> None:
        """The true camera of a moment includes bumps; the other camera stays."""
        table = small_table(SCRIPT)
        bumped = next(e.t for e in table.truth if e.event == "camera")

        overhead, side = table.sources["overhead"], table.sources["side"]
        before, after = (overhead.true_camera(bumped + d) for d in (-0.5, 0.5))

        moved = np.abs(before.project((88, 88, 0)) - after.project((88, 88, 0))).max()
        assert moved > 0.3
        assert side.true_camera(bumped + 0.5) is table.scene.cameras["side"]

    def test_a_dimmed_lamp_darkens_the_table(self) -> None:
        """Directly after a lamp was turned down the picture is darker."""
        table = small_table(SHORT.replace("@ drop side 0.5", "@ lamp 1 0.2"))
        source = table.sources["overhead"]
        cue = table.play.cues[0].start + table.scene.sensors["overhead"].delay_s

        frames = list(source.frames())
        before = [f.image.mean() for f in frames if cue - 0.3 < f.seconds < cue]
        after = [f.image.mean() for f in frames if cue < f.seconds < cue + 0.2]

        assert np.mean(after) < 0.9 * np.mean(before)

    def test_exposure_follows_a_hand(self) -> None:
        """A hand makes a camera that adjusts itself change the picture where no hand is."""
        table = small_table(SHORT)
        source = table.sources["side"]
        hands = [s for s in table.play.stretches if s.goal is not None]
        delay = table.scene.sensors["side"].delay_s
        source._sensor = replace(source._sensor, obeys=False, lag_s=0.25)

        def corner(begin: float, end: float) -> float:
            """The mean of a corner that the hand, which comes from the front, never covers."""
            numbers = range(round(15 * (begin + delay)), round(15 * (end + delay)))
            seen = [f.image[:30, :60] for n in numbers if (f := source.frame(n)) is not None]
            return float(np.mean(seen))

        still = corner(0.5, 2.0)
        moved = corner(hands[0].end - 0.3, hands[-1].end + 0.3)

        assert abs(moved / still - 1) > 0.01

    def test_somebody_walks_behind_the_table(self) -> None:
        """A passer changes what is behind the table and nothing on the board."""
        table = small_table(SHORT.replace("@ drop side 0.5", "@ passer 3"))
        source = table.sources["side"]
        cue = next(cue for cue in table.play.cues if cue.words[0] == "passer")
        board = table.scene.cameras["side"].project(
            [(x, y, z) for x in (0, 176) for y in (0, 176) for z in (0, 60)]
        )
        rows, columns = (slice(int(board[:, a].min()), int(board[:, a].max())) for a in (1, 0))
        before = source._seen(table.play.moment(cue.start - 0.05))
        off = np.zeros(before.shape[:2])
        for part in np.linspace(0.05, 0.95, 9):
            there = source._seen(table.play.moment(cue.start + part * (cue.end - cue.start)))
            off = np.maximum(off, np.abs(there - before).max(axis=-1))

        assert (off > 0.05).mean() > 0.005
        assert (off[rows, columns] > 0.05).mean() < 0.002

    def test_a_hand_turns_the_board(self) -> None:
        """A hand that is said to turn the board comes before, goes round with it, and leaves."""
        turn = "@ turn-board 90 5 5 a1"
        table = small_table(SHORT.replace("@ drop side 0.5", turn))
        cue = next(cue for cue in table.play.cues if cue.words[0] == "turn-board")

        moments = [table.play.moment(t) for t in np.linspace(cue.start - 0.1, cue.end + 0.1, 8)]
        tips = [table.tip(*moment.hands[0]).target_mm[:2] for moment in moments]

        assert all(len(moment.hands) == 1 for moment in moments)
        assert np.hypot(*np.subtract(tips[-2], tips[1])) > 100
        assert not table.play.moment(cue.end + 0.6).hands
        assert parse_script(SHORT + turn + "\n").directions[-1].words[-1] == "a1"

    def test_every_camera_is_late_by_its_own_delay(self) -> None:
        """A piece is seen as much later as the camera's sensor says, within a frame or two."""
        table = small_table("game = kewbz\n\n@ scene seed=4 rig=two\n@ lamp 1 0.2\n")
        change = table.play.cues[0].start
        for name, source in table.sources.items():
            seen = [(f.seconds, f.image.mean()) for f in islice(source.frames(), 75)]
            steps = [after[1] - before[1] for before, after in pairwise(seen)]
            late = seen[int(np.argmin(steps)) + 1][0] - change

            assert late == pytest.approx(table.scene.sensors[name].delay_s + 0.033, abs=0.07)

    def test_it_keeps_up_with_a_webcam(self) -> None:
        """A 720p picture takes less of one core than a fifteenth of a second, in the mean."""
        script = parse_script(SHORT)
        source = VirtualTable(play_scene(script), rehearse(script)).sources["side"]
        source.frame(0)

        begun = time.process_time()
        frames = [source.frame(number) for number in range(20, 110)]
        each = (time.process_time() - begun) / len(frames)

        assert each < 1 / 15

    def test_it_keeps_up_while_pieces_change(self) -> None:
        """The same holds when hands put down piece after piece at three times the pace."""
        script = parse_script("game = kewbz\n\n@ scene seed=4 rig=one pace=3\n" + BUSY)
        table = VirtualTable(play_scene(script), rehearse(script))
        source = table.sources["camera"]
        source.frame(0)

        begun = time.process_time()
        frames = [source.frame(n) for n in range(40, round(15 * table.play.seconds) - 40)]
        each = (time.process_time() - begun) / len(frames)

        assert len(table.play.snapshots) / len(frames) > 1 / 15
        assert each < 1 / 15

    def test_a_file_plays(self, tmp_path: Path) -> None:
        """`virtual:FILE` opens a record or a script."""
        path = tmp_path / "game.txt"
        path.write_text(SCRIPT, "utf-8")

        assert set(virtual_sources(path)) == {"overhead", "side"}


def test_a_script_is_written_as_it_is_read() -> None:
    """Text to script to text to script: nothing is lost."""
    script = random_script(find_game("cube"), 4, 9, mischief=Mischief(0.3, 0.5, turned=0.3))

    again = parse_script(str(script))

    assert [str(line) for line in again.record.lines] == [str(ln) for ln in script.record.lines]
    assert [d.words for d in again.directions] == [d.words for d in script.directions]
    assert again.scene == script.scene
    assert rehearse(again).truth == rehearse(script).truth
