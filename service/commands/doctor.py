"""`kiebitz doctor`: which cameras there are, what works, what does not and what to do."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from service.commands.serve import settings_of


def run(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Look at this table's cameras too.")
    ] = None,
    patience: Annotated[
        float, typer.Option(metavar="S", help="How long to wait for a camera.", min=0.1)
    ] = 4.0,
) -> None:
    """Look at cameras, page, storage and network, and say what to do about what is wrong."""
    from service.checkup import Finding, checkup

    findings: list[Finding] = []
    for finding in checkup(settings_of(), folder, patience):
        findings.append(finding)
        print(finding.line(), flush=True)
        if not finding.good and finding.advice:
            print(f"       {finding.advice}", flush=True)
    bad = sum(not finding.good for finding in findings)
    verb = "needs" if bad == 1 else "need"
    summary = f"{bad} of {len(findings)} {verb} a look" if bad else "everything works"
    sys.stderr.write(f"{summary}\n")
    if bad:
        raise typer.Exit(1)
