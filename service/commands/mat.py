"""`kiebitz mat`: prints marker cards or a mat, and the lens board."""

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from calibration.lens_board import DEFAULT_BOARD, LensBoard
from calibration.mat import PAPERS, Mat, mat_for
from calibration.mat_pdf import write_mat
from calibration.scene import Marker
from rules.errors import KiebitzError
from service.table_folder import FILE_NAME, read_table


def run(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The table's folder.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The PDF to write.")
    ] = Path("mat.pdf"),
    paper: Annotated[str, typer.Option(metavar="PAPER", help="a4 or letter.")] = "a4",
    lens_board: Annotated[
        str, typer.Option(metavar="BOARD", help="The lens board on the last page.")
    ] = DEFAULT_BOARD,
) -> None:
    """Write a PDF to print at 100 %: markers for this table, a lens board, and a ruler to check."""
    size = next((name for name in PAPERS if name == paper.lower()), None)
    if size is None:
        raise KiebitzError(f"unknown paper {paper!r}; known are a4 and letter")
    table = read_table(folder)
    lens = LensBoard.parse(lens_board)
    if lens.kind != "charuco":
        raise KiebitzError("the lens board to print has markers, such as " + repr(DEFAULT_BOARD))
    mat = mat_for(table.scene.board, size)
    write_mat(out, mat, table.scene.board, lens, size)
    print(out)
    _note_markers(folder / FILE_NAME, mat, table.scene.markers)


def _note_markers(path: Path, mat: Mat, known: tuple[Marker, ...]) -> None:
    """The table must know where its markers lie; comments in the file stay as they are."""
    if known == mat.markers:
        return
    if known:
        sys.stderr.write(
            f"{path.name} describes other markers than these; "
            "take its [[markers]] out and run this again to use the printed ones\n"
        )
        return
    text = path.read_text(encoding="utf-8-sig")
    margin = ", ".join(f"{side:g}" for side in mat.margin_mm)
    if mat.kind == "sheet":
        text = re.sub(r"(?m)^margin_mm\s*=\s*[^#\n]*", f"margin_mm = [{margin}]  ", text, count=1)
    try:
        path.write_text(text.rstrip("\n") + "\n" + _marker_text(mat), encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise KiebitzError(f"cannot write the markers into {str(path)!r}: {reason}") from error
    sys.stderr.write(f"{path.name} knows these markers now\n")


def _marker_text(mat: Mat) -> str:
    lines = []
    for marker in mat.markers:
        z = '"auto"' if marker.z_mm == "auto" else f"{marker.z_mm:g}"
        x, y = marker.corner_mm
        lines += ["", "[[markers]]", f"id = {marker.id}", f"corner_mm = [{x:g}, {y:g}]"]
        lines += [f"size_mm = {marker.size_mm:g}", f"z_mm = {z}"]
    return "\n".join(lines) + "\n"
