"""Tables in plain text, which can be pasted into Markdown as they are."""

from collections.abc import Iterable, Sequence


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table, each row as soon as it is known."""
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head), flush=True)
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
