"""What is asked of the machine."""

import os
import subprocess
import sys

import pytest

from service.machine import keep_memory

SCRIPT = """
import resource
import cv2
import numpy as np
from service.machine import keep_memory

{keep}
_, jpeg = cv2.imencode(".jpg", np.full((720, 1280, 3), 7, np.uint8))
for number in range(40):
    if number == 20:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    cv2.imdecode(jpeg, cv2.IMREAD_COLOR)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(keep: str) -> int:
    """How often the system had to give a page while pictures came and went."""
    script = SCRIPT.format(keep=keep)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="of other systems nothing is asked"
)
def test_pictures_come_and_go_in_the_same_memory() -> None:
    """Few pages are asked for once the first pictures have been there."""
    assert faults("keep_memory()") < 0.1 * faults("")


def test_a_python_that_cannot_call_c_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some are built without."""
    monkeypatch.setitem(sys.modules, "ctypes", None)

    keep_memory()


def test_matrices_are_multiplied_on_one_core() -> None:
    """The command line asks for that before anything loads numpy."""
    script = (
        "import os, sys\n"
        "import service.cli\n"
        "before = 'numpy' in sys.modules\n"
        "service.cli.run(['--version'])\n"
        "print(before, os.environ['OPENBLAS_NUM_THREADS'])"
    )
    bare = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, env=bare)

    assert done.stdout.split()[-2:] == [b"False", b"1"]
