"""`kiebitz table measure`: what it says, and what it writes."""

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibration.cv import write_image
from calibration.piece_size import PieceSize
from rules.cells import Cell
from rules.lattice import Lattice
from service import cli
from service.commands.table_measure import _pitch
from service.toml_edit import with_values
from tests.calibration.test_cell_count import LIGHT, picture

TABLE = """# mine
game = "kewbz"

[board]
columns = 8        # as in the box
ranks = 8
pitch_mm = 22.0    # from cell to cell
unit_mm = [20.0, 20.0, 20.0]

[colours]
B = "blue"
Y = "yellow"

[cameras.overhead]
clock = 6
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of eight by eight cells."""
    (tmp_path / "table.toml").write_text(TABLE, encoding="utf-8")
    return tmp_path


def measured(folder: Path, *more: str) -> int:
    """Runs the command on a board of nine by nine cells of 25 mm; its exit code."""
    image = folder / "board.png"
    if not image.exists():
        write_image(image, picture((9, 9), (30, -200, 330), pitch=25.0, base=LIGHT))
    return cli.main(["table", "measure", str(folder), f"overhead={image}", *more])


def test_counts_and_pitch_are_told_and_nothing_is_written(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong in table.toml is told with the right values; the file stays as it is."""
    code = measured(table, "--show", str(table / "show.png"))

    said = capsys.readouterr().out
    assert code == 0
    assert "9 x 9 cells, sure" in said
    assert "columns = 9" in said
    assert "pitch_mm = 2" in said
    assert (table / "table.toml").read_text(encoding="utf-8") == TABLE
    assert (table / "show.png").exists()


def test_what_was_measured_is_written_and_nothing_else_is_lost(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--write --yes` changes three numbers; comments, colours and cameras stay."""
    code = measured(table, "--write", "--yes")

    assert code == 0
    capsys.readouterr()
    text = (table / "table.toml").read_text(encoding="utf-8")
    board = tomllib.loads(text)["board"]
    assert (board["columns"], board["ranks"]) == (9, 9)
    assert board["pitch_mm"] == pytest.approx(25.0, rel=0.04)
    assert "# as in the box" in text
    assert text.splitlines()[9:] == TABLE.splitlines()[9:]


def test_a_board_without_grid_is_refused(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wall's strip has nothing to count; a ruler is advised."""
    (table / "table.toml").write_text('game = "kwinty"\n[cameras.overhead]\n', encoding="utf-8")

    code = measured(table)

    assert code == 2
    assert "ruler" in capsys.readouterr().err


def test_a_doubtful_piece_contradicts_another_camera_s(capsys: pytest.CaptureFixture[str]) -> None:
    """One camera may take something else for the piece; then nobody knows how large it is."""
    cells = Lattice(8, 8, 5, 22.0, (20.0, 20.0, 20.0))
    sure = PieceSize(Cell(4, 3), 0.48, 0.01, 0.9, np.zeros((8, 3)), ())
    doubtful = replace(sure, cell=Cell(4, 2), share=0.89, doubts=("could also be two",))

    assert _pitch([sure, doubtful], cells) is None
    assert "different sizes" in capsys.readouterr().err
    assert _pitch([sure, replace(doubtful, share=0.49), None], cells) is not None


class TestEdit:
    """Numbers changed in a text that people wrote."""

    def test_a_comment_stays_beside_its_value(self) -> None:
        """The value is replaced, the rest of the line and file is the same."""
        text = with_values(TABLE, "board", {"columns": 10})

        assert "columns = 10       # as in the box\n" in text
        assert text.replace("columns = 10       #", "columns = 8        #") == TABLE

    def test_a_missing_key_is_put_under_its_heading(self) -> None:
        """A key that nobody wrote is added to its section."""
        text = with_values(TABLE.replace("ranks = 8\n", ""), "board", {"ranks": 9})

        assert tomllib.loads(text)["board"]["ranks"] == 9

    def test_a_missing_section_is_added(self) -> None:
        """A table that leaves its board to the game gets a section."""
        text = with_values('game = "kewbz"\n', "board", {"columns": 7})

        assert tomllib.loads(text) == {"game": "kewbz", "board": {"columns": 7}}
