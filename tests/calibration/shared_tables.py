"""Tables for photographs from elsewhere, calibrated through the command as a player would."""

from pathlib import Path

from service.cli import main


def free_table(
    folder: Path, columns: int, ranks: int, pitch_mm: float, cameras: tuple[str, ...] = ("camera",)
) -> Path:
    """A table without a game, of so many cells."""
    unit = 0.8 * pitch_mm
    lines = [
        'game = "free"',
        "[board]",
        f"columns = {columns}",
        f"ranks = {ranks}",
        "levels = 1",
        f"pitch_mm = {pitch_mm}",
        f"unit_mm = [{unit}, {unit}, {unit}]",
        "margin_mm = 0.0",
        "[colours]",
        'R = "red"',
        'B = "blue"',
    ]
    for name in cameras:
        lines += [f"[cameras.{name}]", 'source = "files"', "clock = 6"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def kiebitz(*words: object) -> int:
    """Runs the command; its exit code."""
    return main([str(word) for word in words])
