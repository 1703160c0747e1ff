"""Describes the card and the software, as one line of JSON. Fails where stator is not the one in the folder given."""

from __future__ import annotations

import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path


def installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def link_openblas(site: Path) -> None:
    """The doubles of CUDA's libraries look for OpenBLAS beside the package; the interpreter has it elsewhere."""
    spec, link = find_spec("scipy_openblas32"), site / "scipy_openblas32"
    if spec and spec.origin and not link.exists():
        link.unlink(missing_ok=True)
        link.symlink_to(Path(spec.origin).parent)


def main() -> int:
    import stator

    if Path(sys.argv[1]).resolve() not in Path(stator.__file__).resolve().parents:
        print(f"stator comes from {stator.__file__}, not from the wheel", file=sys.stderr)
        return 1
    link_openblas(Path(sys.argv[1]))
    with stator.Backend("cuda") as be, be.use():
        assert stator.sum(be.ones(1000)).item() == 1000
        info = be.devices.info()
        packages = ("numpy", "scipy", "torch", "cupy-cuda13x", "pytest", "pytest-xdist")
        card = {
            "name": info.name,
            "driver": info.driver,
            "cuda": info.runtime,
            "capability": info.compute_capability,
            "memory": info.memory_total,
            "multiprocessors": be.devices.properties()["multiprocessors"],
            "emulated": info.emulated,
            "python": platform.python_version(),
            "stator": stator.__version__,
            "packages": {name: found for name in packages if (found := installed(name))},
        }
    print(json.dumps(card))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
