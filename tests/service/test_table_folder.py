"""Tables: what is read is what was written, and every mistake is told with its place."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import date
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration import store
from calibration.camera import Lens
from calibration.scene import CameraPlace, Marker, Scene
from rules.lattice import Board, Lattice
from rules.registry import GAMES, find_game
from service.cli import main
from service.table import Player, Table
from service.table_folder import default_table, read_table, write_table
from service.table_reader import TableError, read_table_text
from service.table_writer import table_text
from service.toml_text import key_lines

CONTRACT = """
game = "kewbz"
first = "B"

[board]
columns = 8
ranks = 8
pitch_mm = 22.0               # from cell to cell
unit_mm = [20.0, 20.0, 20.0]  # one cube, or one unit of a longer piece
margin_mm = 12.0              # board beyond the cells

[colours]
B = "blue"
Y = "yellow"

[[players]]
id = "B"
name = "Blue"

[[players]]
id = "Y"

[[markers]]                   # optional, ArUco DICT_4X4_50
id = 0
corner_mm = [-55.0, -55.0]
size_mm = 40.0
z_mm = -4.0

[cameras.overhead]
source = 0
clock = 6

[cameras.side]
source = "phone"
clock = 7.5
rotate = 90
offset_s = -0.25
exposure = -6
resolution = [1280, 720]

[rules]
supply = 30
"""


class TestReading:
    """From table.toml to a table."""

    def test_every_key_of_the_contract_arrives(self) -> None:
        """The example of the contract, with all that it may hold, is read as it is meant."""
        table = read_table_text(CONTRACT)

        assert table.game == "kewbz"
        assert table.first == "B"
        assert table.players == (Player("B", "Blue"), Player("Y"))
        assert table.rules == {"supply": 30}
        assert table.scene.board == Board(
            Lattice(8, 8, 5, 22.0, (20.0, 20.0, 20.0)), (12.0, 12.0, 12.0, 12.0)
        )
        assert table.scene.colours == {"B": "blue", "Y": "yellow"}
        assert table.scene.markers == (Marker(0, (-55.0, -55.0), 40.0, -4.0),)
        assert table.scene.cameras["overhead"] == CameraPlace("overhead", 0, 6.0)
        assert table.scene.cameras["side"] == CameraPlace(
            "side", "phone", 7.5, 90, -0.25, {"exposure": -6, "resolution": [1280, 720]}
        )

    def test_the_game_alone_is_enough(self) -> None:
        """Whatever is left out is as in the game's box."""
        table = read_table_text('game = "kewbz"')

        assert table.scene.board == find_game("kewbz").board
        assert table.scene.colours == {"B": "blue", "Y": "yellow"}
        assert table.setup().players == ()
        assert table.spec.set_up(table.setup()).players == ("B", "Y")

    def test_sizes_reach_the_game(self) -> None:
        """The game is set up on the table's board."""
        table = read_table_text('game = "kewbz"\n[board]\ncolumns = 6\nranks = 6')

        assert table.spec.set_up(table.setup()).lattice.columns == 6

    @pytest.mark.parametrize(
        ("line", "margin"),
        [
            pytest.param("margin_mm = 5", (5.0, 5.0, 5.0, 5.0), id="one"),
            pytest.param("margin_mm = [1, 2, 3.5, 4]", (1.0, 2.0, 3.5, 4.0), id="four"),
        ],
    )
    def test_margin_is_one_number_or_four(
        self, line: str, margin: tuple[float, float, float, float]
    ) -> None:
        """A margin is left, front, right and back, or one for all."""
        assert read_table_text(f'game = "kewbz"\n[board]\n{line}').scene.board.margin_mm == margin

    def test_measures_may_be_left_to_calibration(self) -> None:
        """Frame and recess are numbers or "auto"."""
        text = (
            'game = "kewbz"\n[board]\nframe_height_mm = "auto"\nframe_width_mm = 8\nrecess_mm = 3.5'
        )

        board = read_table_text(text).scene.board

        assert (board.frame_height_mm, board.frame_width_mm, board.recess_mm) == ("auto", 8.0, 3.5)

    def test_a_game_of_ones_own_has_its_own_colours_and_levels(self) -> None:
        """Without rules the table says how high pieces stand and which colours there are."""
        text = 'game = "free"\n[board]\nlevels = 1\n[colours]\nW = "white"\nK = "black"'

        table = read_table_text(text)

        assert table.scene.board.lattice.levels == 1
        assert table.scene.colours == {"W": "white", "K": "black"}
        assert table.setup().details == {"colours": "W K"}
        assert read_table_text(table_text(table)) == table

    def test_details_of_a_game_and_of_its_players_arrive(self) -> None:
        """What only one game knows stands in [details], or with the player it belongs to."""
        text = (
            'game = "cube"\n[[players]]\nid = "1"\ntwin = "G"\n[[players]]\nid = "2"\ntwin = "R"\n'
        )

        table = read_table_text(text)

        assert table.setup().details == {"twin.1": "G", "twin.2": "R"}
        assert read_table_text(table_text(table)).players == table.players

    def test_a_file_of_a_windows_editor_is_read(self, tmp_path: Path) -> None:
        """A byte order mark and Windows line ends do not matter."""
        (tmp_path / "table.toml").write_bytes(
            b"\xef\xbb\xbf" + CONTRACT.replace("\n", "\r\n").encode()
        )

        assert read_table(tmp_path) == read_table_text(CONTRACT)


class TestMistakes:
    """What is wrong is told with file, line, key, what was expected and the nearest known key."""

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            pytest.param('frist = "B"', "unknown key 'frist'; did you mean 'first'?", id="key"),
            pytest.param('first = "R"', "first = 'R' is none of the players B Y", id="first"),
            pytest.param("cameras = 3", "cameras = 3: expected a heading [cameras]", id="heading"),
            pytest.param("players = 2", "players = 2: expected headings [[players]]", id="list"),
            pytest.param(
                "[board]\ncolums = 8",
                "unknown key 'colums' in [board]; did you mean 'columns'?",
                id="board-key",
            ),
            pytest.param(
                "[board]\nranks = 0", "ranks = 0: expected a whole number from 1 to 99", id="range"
            ),
            pytest.param(
                "[board]\nranks = true", "ranks = true: expected a whole number", id="bool"
            ),
            pytest.param(
                "[board]\ncolumns = 4\nranks = 4", "a KEWBZ board of 4 x 4 cells", id="size"
            ),
            pytest.param(
                '[board]\npitch_mm = "22"', 'pitch_mm = "22": expected a number', id="text"
            ),
            pytest.param("[board]\npitch_mm = nan", "pitch_mm = nan: expected a number", id="nan"),
            pytest.param(
                "[board]\nunit_mm = [1, 2]", "expected one number, or 3 of them", id="pair"
            ),
            pytest.param(
                "[board]\nunit_mm = 25", "fit side by side into a pitch of 22 mm", id="wide"
            ),
            pytest.param(
                "[board]\nmargin_mm = [1, 2, 3]", "expected one number, or 4 of them", id="margin"
            ),
            pytest.param("[board]\nlevels = 7", "KEWBZ always has 5 levels", id="levels"),
            pytest.param(
                '[board]\nrecess_mm = "deep"',
                'expected a number of millimetres, or "auto"',
                id="auto",
            ),
            pytest.param(
                '[colours]\nR = "red"', "unknown key 'R' in [colours]; known are B, Y", id="letter"
            ),
            pytest.param("[colours]\nB = 3", "B = 3: expected a text in quotes", id="colour"),
            pytest.param('[[players]]\nid = "Z"', 'id = "Z": expected one of B, Y', id="player"),
            pytest.param('[[players]]\nid = "B"', "players, not 1", id="alone"),
            pytest.param(
                "[[markers]]\nid = 50\ncorner_mm = [0, 0]\nsize_mm = 4e1",
                "id = 50: expected a whole number from 0 to 49",
                id="marker",
            ),
            pytest.param(
                "[[markers]]\nid = 1\nsize_mm = 40", "corner_mm is missing: expected", id="corner"
            ),
            pytest.param(
                "[cameras]\nside = 3", "expected a camera's name in the heading", id="camera"
            ),
            pytest.param(
                '[cameras."a=b"]\nsource = 1', "expected a camera's name of letters", id="name"
            ),
            pytest.param(
                "[cameras.top]\nsource = true",
                "source = true: expected a device number",
                id="source",
            ),
            pytest.param(
                "[camera.top]\nclock = 6",
                "line 3: unknown key 'camera'; did you mean 'cameras'?",
                id="heading-of-headings",
            ),
            pytest.param(
                "[board]\nrecess_mm = -2",
                "recess_mm = -2: expected a number of millimetres",
                id="negative",
            ),
            pytest.param(
                "[cameras.top]\nclok = 6",
                "unknown key 'clok' in [cameras.top]; did you mean 'clock'?",
                id="clok",
            ),
            pytest.param(
                "[cameras.top]\nclock = 13",
                "clock = 13: expected a number from 0 to 12",
                id="clock",
            ),
            pytest.param(
                "[cameras.top]\nrotate = 45", "rotate = 45: expected 0, 90, 180 or 270", id="rotate"
            ),
            pytest.param(
                "[rules]\nsuply = 3",
                "unknown option of kewbz 'suply'; did you mean 'supply'?",
                id="rule",
            ),
            pytest.param(
                "[rules]\nsupply = 900", "supply = 900: expected 1 to 200", id="rule-value"
            ),
        ],
    )
    def test_one_mistake_is_one_line(self, line: str, told: str) -> None:
        """A single mistake is told in one line with the file and the line of the key."""
        text = f'game = "kewbz"\n\n{line}\n'

        with pytest.raises(TableError) as caught:
            read_table_text(text, "home/table.toml")

        message = str(caught.value)
        assert message.count("\n") == 0
        assert told in message
        number = int(message.removeprefix("home/table.toml, line ").partition(":")[0])
        assert 1 <= number <= 5

    def test_all_mistakes_are_told_in_order(self) -> None:
        """Several mistakes are told at once, each with its line."""
        text = CONTRACT.replace("ranks = 8", "ranks = 0").replace("size_mm = 40.0", "size_m = 40")

        with pytest.raises(TableError) as caught:
            read_table_text(text)

        first, *rest = str(caught.value).splitlines()
        lines = text.splitlines()
        assert first == "table.toml has 3 mistakes:"
        assert rest[0].startswith(f"  line {lines.index('ranks = 0') + 1}: ranks = 0")
        assert rest[1].startswith(f"  line {lines.index('id = 0')}: size_mm is missing")
        assert rest[2].startswith(f"  line {lines.index('size_m = 40') + 1}: unknown key 'size_m'")

    def test_a_player_named_twice_is_told_where(self) -> None:
        """The line is the one of the second time."""
        again = f'{CONTRACT}\n[[players]]\nid = "B"\n'

        with pytest.raises(TableError, match=r'line 45: id = "B": .* stands above already'):
            read_table_text(again)

    def test_a_wall_is_seen_from_the_front(self) -> None:
        """The camera of a new table is called after the place where it is of most use."""
        cameras = {name: default_table(find_game(name)).scene.cameras for name in GAMES}

        assert {name for name in GAMES if "front" in cameras[name]} == {"kwinty"}

    def test_the_second_of_a_list_has_its_own_line(self) -> None:
        """A mistake in a later [[players]] is told with that one's line."""
        text = CONTRACT.replace('id = "Y"', 'id = "R"')

        with pytest.raises(TableError) as caught:
            read_table_text(text)

        number = text.splitlines().index('id = "R"') + 1
        assert f"line {number}:" in str(caught.value)

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            pytest.param(
                "game = kewbz",
                "line 1: cannot read 'game = kewbz': text stands in quotes, as in game = \"kewbz\"",
                id="bare",
            ),
            pytest.param('game = "kewbz', "the text is not closed", id="open-text"),
            pytest.param("game = “kewbz”", "quotes must be straight", id="curly"),
            pytest.param(
                'game = "kewbz"\n[board]\npitch_mm = 22,5',
                "line 3: cannot read 'pitch_mm = 22,5': decimals have a point, as in 22.5",
                id="comma",
            ),
            pytest.param(
                'game = "kewbz"\ngame = "qbq"',
                "line 2: cannot read 'game = \"qbq\"': 'game' stands in the file twice",
                id="twice",
            ),
            pytest.param(
                'game = "kewbz"\n[board\nranks = 8', "line 2: cannot read '[board'", id="heading"
            ),
            pytest.param(
                'game = "kewbz"\n[board]\nunit_mm = [20, 20',
                "line 3: cannot read 'unit_mm = [20, 20': the list is not closed",
                id="open-list",
            ),
            pytest.param("game", "expected a key and a value", id="no-value"),
            pytest.param(
                'game = "kewbz"\nfirst =\n',
                "line 2: cannot read 'first =': the value of 'first' is missing",
                id="half",
            ),
            pytest.param("", "line 1: game is missing", id="empty"),
            pytest.param('game = "chess"', "unknown game 'chess'", id="game"),
        ],
    )
    def test_a_half_edited_file_gets_line_and_hint(self, text: str, told: str) -> None:
        """What is no TOML is told with its line and what to try."""
        with pytest.raises(TableError) as caught:
            read_table_text(text)

        assert told in str(caught.value)

    @given(st.text(max_size=60), st.integers(0, len(CONTRACT)), st.integers(0, 40))
    def test_a_damaged_file_is_a_table_error_or_a_table(
        self, noise: str, start: int, cut: int
    ) -> None:
        """Whatever is written into a table's file, reading it ends in a table or a TableError."""
        text = CONTRACT[:start] + noise + CONTRACT[start + cut :]

        with suppress(TableError):
            assert read_table_text(text).game == "kewbz"

    @pytest.mark.parametrize(
        ("make", "told"),
        [
            pytest.param(lambda _: None, "kiebitz table new", id="missing"),
            pytest.param(lambda p: p.write_text("x"), "is a file; give its folder", id="file"),
            pytest.param(
                lambda p: (p / "table.toml").mkdir(parents=True), "cannot read", id="folder"
            ),
            pytest.param(
                lambda p: (p.mkdir(), (p / "table.toml").write_bytes(b"a\n\xff")),
                "line 2: this is no text",
                id="bytes",
            ),
        ],
    )
    def test_a_folder_that_is_no_table_is_told(
        self, tmp_path: Path, make: Callable[[Path], object], told: str
    ) -> None:
        """What cannot be read at all is told with what to do."""
        make(tmp_path / "home")

        with pytest.raises(TableError, match=told):
            read_table(tmp_path / "home")


class TestWriting:
    """From a table to its file and back."""

    def test_the_text_of_a_table_gives_the_table(self) -> None:
        """Writing the contract's example and reading it again changes nothing."""
        table = read_table_text(CONTRACT)

        assert read_table_text(table_text(table)).scene == table.scene

    @pytest.mark.parametrize("game", [g for g in GAMES if find_spec(f"rules.{g}")])
    def test_every_game_has_a_table(self, game: str) -> None:
        """The default table of every game can be written, read and played on."""
        table = default_table(find_game(game))

        again = read_table_text(table_text(table))

        assert again == table
        assert again.spec.set_up(again.setup()).start().stacks is not None

    @given(
        cameras=st.lists(
            st.builds(
                CameraPlace,
                name=st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True),
                source=st.one_of(st.none(), st.integers(0, 9), st.text(min_size=1, max_size=20)),
                clock=st.integers(0, 120).map(lambda n: n / 10),
                rotate=st.sampled_from((0, 90, 180, 270)),
                offset_s=st.integers(-99, 99).map(lambda n: n / 8),
                settings=st.dictionaries(
                    st.sampled_from(("exposure", "focus", "note to self", "größe", "a.b")),
                    st.one_of(
                        st.integers(-9, 9),
                        st.booleans(),
                        st.floats(allow_nan=False),
                        st.text(max_size=20),
                        st.lists(st.text(max_size=3), max_size=3),
                        st.dictionaries(st.text(max_size=3), st.integers(-9, 9), max_size=2),
                        st.just(date(2024, 5, 1)),
                    ),
                ),
            ),
            max_size=3,
            unique_by=lambda camera: camera.name,
        ),
        names=st.tuples(st.text(max_size=20), st.text(max_size=20)),
        margin=st.tuples(*[st.integers(0, 400).map(lambda n: n / 4)] * 4),
        z_mm=st.one_of(st.just("auto"), st.integers(-40, 40).map(lambda n: n / 4)),
    )
    def test_nothing_is_lost_on_the_way(
        self,
        cameras: list[CameraPlace],
        names: tuple[str, str],
        margin: tuple[float, float, float, float],
        z_mm: float,
    ) -> None:
        """Any table, with whatever texts and settings, is the same after writing and reading."""
        spec = find_game("kewbz")
        table = Table(
            game="kewbz",
            scene=Scene(
                board=replace(spec.board, margin_mm=margin),
                colours=dict(spec.colours),
                markers=(Marker(7, (-1.5, 3.0), 40.0, z_mm),),
                cameras={camera.name: camera for camera in cameras},
            ),
            players=(Player("Y", names[0]), Player("B", names[1])),
            rules={"supply": 12, "doubleExtension": "status", "endByStacking": False},
        )

        assert read_table_text(table_text(table)) == table

    def test_an_old_table_stays_when_writing_fails(self, tmp_path: Path) -> None:
        """A table is replaced wholly or not at all."""
        table = default_table(find_game("kewbz"))
        write_table(tmp_path, table)
        bad = replace(table, rules={"supply": object()})  # type: ignore[dict-item]

        with pytest.raises((TableError, TypeError, ValueError)):
            write_table(tmp_path / "table.toml", bad)

        assert read_table(tmp_path) == table


class TestNewTable:
    """`kiebitz table new`."""

    def test_writes_a_table_ready_to_edit(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The command prints the file's path; the file holds the game's defaults with comments."""
        code = main(["table", "new", str(tmp_path / "home"), "--game", "kewbz"])

        path = tmp_path / "home" / "table.toml"
        assert code == 0
        assert capsys.readouterr().out == f"{path}\n"
        assert "# from cell to cell" in path.read_text("utf-8")
        assert read_table(tmp_path / "home") == default_table(find_game("kewbz"))

    def test_sizes_can_be_said_at_once(self, tmp_path: Path) -> None:
        """Board and pieces of another size need no editing."""
        words = ["--size", "9", "--pitch", "25", "--unit", "22x22x11", "--first", "Y"]

        assert main(["table", "new", str(tmp_path), "--game", "kewbz", *words]) == 0

        table = read_table(tmp_path)
        assert table.scene.board.lattice == Lattice(9, 9, 5, 25.0, (22.0, 22.0, 11.0))
        assert table.first == "Y"

    def test_an_existing_table_is_kept(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A table that is there is never overwritten."""
        (tmp_path / "table.toml").write_text("mine", "utf-8")

        assert main(["table", "new", str(tmp_path), "--game", "kewbz"]) == 2
        assert (tmp_path / "table.toml").read_text("utf-8") == "mine"
        assert "is a table already" in capsys.readouterr().err

    def test_a_second_camera_is_only_uncommented(self, tmp_path: Path) -> None:
        """Who follows the guide for two cameras finds the second one's block in the new table."""
        assert main(["table", "new", str(tmp_path), "--game", "kewbz"]) == 0
        file = tmp_path / "table.toml"
        before, heading, after = file.read_text("utf-8").partition("# [cameras.side]")
        assert heading

        block, blank, rest = f"{heading}{after}".partition("\n\n")
        file.write_text(before + block.replace("# ", "", 1).replace("\n# ", "\n") + blank + rest)

        cameras = read_table(tmp_path).scene.cameras
        assert [(place.name, place.source) for place in cameras.values()] == [
            ("overhead", 0),
            ("side", 1),
        ]

    def test_cameras_come_from_another_table(self, tmp_path: Path) -> None:
        """`--like` takes cameras with their settings, and what is known of their lenses."""
        old, new = tmp_path / "old", tmp_path / "new"
        old.mkdir()
        (old / "table.toml").write_text(CONTRACT, "utf-8")
        lens = Lens((1280, 720), np.diag([900.0, 900.0, 1.0]), np.zeros(5))
        record = store.LensRecord(lens, "charuco", 0.2, "good")
        store.write(old, store.Calibration(lenses={"side": record}))

        assert main(["table", "new", str(new), "--game", "kewbz", "--like", str(old)]) == 0

        assert read_table(new).scene.cameras == read_table(old).scene.cameras
        assert not read_table(new).scene.markers
        assert store.read(new).lenses["side"].method == "charuco"

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            pytest.param(["--game", "kewb"], "did you mean 'kewbz'?", id="game"),
            pytest.param(["--game", "kewbz", "--size", "big"], "a number of cells", id="size"),
            pytest.param(["--game", "kewbz", "--size", "3"], "3 x 3", id="too-small"),
            pytest.param(["--game", "kewbz", "--unit", "2x2"], "expected millimetres", id="unit"),
            pytest.param(["--game", "kewbz", "--first", "R"], "none of the players", id="first"),
            pytest.param(["--game", "kewbz", "--like", "nowhere"], "is no table", id="like"),
        ],
    )
    def test_wrong_words_write_nothing(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
    ) -> None:
        """What makes no sense is told, and no folder is left behind."""
        assert main(["table", "new", str(tmp_path / "home"), *words]) == 2

        assert told in capsys.readouterr().err
        assert not (tmp_path / "home").exists()


def test_lines_of_keys_are_found_in_any_layout() -> None:
    """Headings, dotted keys, lists over several lines and long texts do not confuse the lines."""
    text = '''a.b = 1
[[list]]
long = """
fake = 1
"""
many = [
  "x = 2", # ]
  3,
]
[[list]]
"quoted key" = 'x'
[table.inner]  # comment
key = { x = 1 }
'''

    lines = key_lines(text)

    assert lines["a", "b"] == 1
    assert lines["list", 0, "many"] == 6
    assert lines["list", 1, "quoted key"] == 11
    assert lines["table", "inner", "key"] == 13
    assert ("list", 0, "fake") not in lines
