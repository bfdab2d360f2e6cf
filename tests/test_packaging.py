"""What is installed: the public face, its cost, and the files beside the code."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import metadata, packages_distributions, version
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import surefoot

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "surefoot"


def face_for_type_checkers() -> list[str]:
    """The names that `surefoot/__init__.py` imports for type checkers only."""
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return [alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names]


@pytest.mark.parametrize("name", surefoot.__all__)
def test_every_public_name_loads(name: str):
    """Each name leads to something that knows its own home."""
    assert getattr(surefoot, name) is getattr(surefoot, name)
    assert name in dir(surefoot)


def test_the_face_is_whole_and_the_same_for_type_checkers():
    """What a type checker sees is what a program gets; every error class is in it."""
    assert sorted(face_for_type_checkers()) == sorted(surefoot.__all__)
    from surefoot import errors

    named = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert {name for name in named if name.endswith("Error")} <= set(surefoot.__all__)


def test_an_unknown_name_is_an_attribute_error():
    """As with any module."""
    with pytest.raises(AttributeError, match=r"surefoot.*no attribute 'Assistent'"):
        _ = surefoot.Assistent


def test_import_surefoot_loads_nothing_of_others():
    """The face costs only itself: no third-party package, no room, until a name is used."""
    code = "import sys; before = set(sys.modules); import surefoot; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "surefoot" in loaded
    others = {name for name in loaded if name.partition(".")[0] not in sys.stdlib_module_names}
    assert others == {"surefoot"}


def test_the_version_is_the_installed_one():
    """One place holds the version."""
    assert surefoot.__version__ == version("surefoot")
    assert metadata("surefoot")["License-Expression"] == "Apache-2.0"


def test_the_wheel_holds_every_file_beside_the_code(tmp_path: Path):
    """Prompts, word lists, thresholds and migrations are data of the package, and so is the mark of its types."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    beside = {
        str(path.relative_to(SOURCE.parent))
        for path in SOURCE.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert beside <= packed
    assert "surefoot/py.typed" in packed
    assert {path.partition("/")[0] for path in packed} == {
        "surefoot",
        f"surefoot-{surefoot.__version__}.dist-info",
    }


# --- dependencies ----------------------------------------------------------------------------------------------

NEVER_IMPORTED = {"tzdata"}  # data: `zoneinfo` finds it where the system has no zones of its own
# Several distributions have packages under this name; the one meant.
SHARED = {"google": "google-genai", "opentelemetry": "opentelemetry-api"}


def declared() -> set[str]:
    """Names of the distributions that pyproject.toml declares, those of the extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entries = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    return {canonicalize_name(Requirement(entry).name) for entry in entries}


def imported() -> dict[str, set[str]]:
    """Distributions that the code imports, with the files that do."""
    homes = packages_distributions()
    found: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for top in {name.partition(".")[0] for name in names} - {"surefoot"} - sys.stdlib_module_names:
                for home in [SHARED[top]] if top in SHARED else homes.get(top, [top]):
                    found.setdefault(canonicalize_name(home), set()).add(path.name)
    return found


def test_what_is_imported_is_declared():
    """No module lives on what another library happens to bring."""
    assert {name: files for name, files in imported().items() if name not in declared()} == {}


def test_what_is_declared_is_used():
    """Nobody installs a library for nothing."""
    assert declared() - imported().keys() == NEVER_IMPORTED


def test_dependencies_are_sorted_and_explained():
    """In order, and each with a row in the page about libraries."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for entries in (project["project"]["dependencies"], project["dependency-groups"]["dev"]):
        assert entries == sorted(entries, key=lambda entry: Requirement(entry).name)
    page = (ROOT / "docs" / "decisions" / "0002-libraries.md").read_text(encoding="utf-8")
    rows = "\n".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| "))
    assert {name for name in declared() if name not in rows} == set()
