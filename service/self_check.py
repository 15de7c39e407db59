"""What `run.py` asks once after a set-up: can everything be loaded, and is the page there?"""

import importlib
import sys
from pathlib import Path

# Compiled packages: the ones that a wrong or broken install shows first.
PACKAGES = ("cv2", "cryptography", "fastapi", "numpy", "orjson", "sklearn", "uvicorn", "zeroconf")


def problems() -> list[str]:
    """One sentence for everything that is missing; empty when Kiebitz can run."""
    found = []
    for name in PACKAGES:
        try:
            importlib.import_module(name)
        except ImportError as error:
            found.append(f"the package {name!r} cannot be loaded: {error}")
    if not (Path(__file__).parent / "static" / "index.html").is_file():
        found.append("the page is not built; start run.py again")
    return found


def main() -> int:
    """Print what is missing."""
    found = problems()
    for problem in found:
        sys.stderr.write(problem + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
