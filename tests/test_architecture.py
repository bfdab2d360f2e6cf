"""The house: rooms import one way, modules stay small and documented, nothing private is in the repository."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "surefoot"
MODULES = sorted(SOURCE.rglob("*.py"))
ROOMS = sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists())
MOST_LINES = 400


def name_of(path: Path) -> str:
    """A path as a person reads it in a test's name."""
    return str(path.relative_to(ROOT))


def public_definitions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Public functions and classes of a module, and the public methods of its public classes."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = [node for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]
    for node in list(found):
        if isinstance(node, ast.ClassDef) and not _is_protocol(node):
            found += [n for n in node.body if isinstance(n, kinds) and not n.name.startswith("_")]
    return found


def _is_protocol(node: ast.ClassDef) -> bool:
    """A protocol may say it once, for all its methods."""
    return any("Protocol" in ast.unparse(base) for base in node.bases)


def _is_overload(node: ast.AST) -> bool:
    return any("overload" in ast.unparse(item) for item in getattr(node, "decorator_list", []))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_is_short_and_documented(path: Path):
    """Under 400 lines; the module, and all that is public in it, say what they are."""
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") < MOST_LINES
    tree = ast.parse(text)
    assert ast.get_docstring(tree) or not text.strip(), f"{name_of(path)} has no docstring"
    bare = [n.name for n in public_definitions(tree) if not ast.get_docstring(n) and not _is_overload(n)]
    assert not bare, f"without a docstring in {name_of(path)}: {bare}"


def sort_key(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest: the order that ruff keeps."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_all_is_sorted(path: Path):
    """Where a module states its public names they are in order, once each."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names = ast.literal_eval(node.value)
            assert names == sorted(set(names), key=sort_key)


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_tests(room: str):
    """The tests mirror the rooms."""
    assert list((ROOT / "tests" / room).glob("test_*.py")), f"tests/{room} has no tests"


# --- what must not stand in a file of the repository ----------------------------------------------------------

FORBIDDEN = {
    "a path of somebody's machine": r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+)/\w",
    "a registry's host": "pythonhosted" + r"\.org|registry\.npmjs" + r"\.org",
    "an issue's number": r"(?i)\bissue" + r" #?\d",
    "something that looks like a key": r"\b(?:sk|ghp|hf|xox[bp])[-_][A-Za-z0-9]{16,}",
    "a private key": "-----BEGIN [A-Z ]*PRIVATE " + "KEY",
    "work that was put off": r"\b(?:TO" + "DO|FIX" + r"ME)\b",
}


def tracked_texts() -> dict[str, str]:
    """Every text file of the repository, by its path; empty where there is no repository (an unpacked archive)."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return {}
    listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    found = {}
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and path != Path(__file__):
            found[name] = path.read_bytes().decode("utf-8", "replace")
    return found


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str):
    """Paths of a machine, hosts of registries, keys and the like are nobody's business."""
    pattern = re.compile(FORBIDDEN[what])
    hits = [
        f"{name}: {match.group()}"
        for name, text in tracked_texts().items()
        if (match := pattern.search(text))
    ]
    assert not hits


# --- the import contracts, tried on a small house with the same rooms ------------------------------------------


def small_house(folder: Path) -> Path:
    """A package `surefoot` with an empty module for every room that the contracts name, and the contracts."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    package = folder / "surefoot"
    for room in re.findall(r"\w+", " ".join(layers)):
        (package / room).mkdir(parents=True)
        (package / room / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "models" / "keys.py").write_text("import keyring\n")
    (package / "flows" / "vault.py").write_text("")
    shutil.copy(ROOT / "pyproject.toml", folder)
    return package


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """What import-linter says to the small house."""
    code = "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_import_contracts_hold_for_a_tidy_house(tmp_path: Path):
    """Downward imports are fine."""
    package = small_house(tmp_path)
    (package / "cli" / "__init__.py").write_text(
        "import surefoot.assistant, surefoot.storage, surefoot.errors\n"
    )
    (package / "models" / "registry.py").write_text("import surefoot.models.keys\n")
    done = lint(tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("storage", "surefoot.models"),
        ("models", "surefoot.tools.types"),
        ("tools", "surefoot.flows"),
        ("planning", "surefoot.journal"),
        ("planning", "surefoot.running"),
        ("running", "surefoot.assistant"),
        ("assistant", "surefoot.cli"),
        ("server", "surefoot.evals"),
        ("errors", "surefoot.storage"),
        ("tools", "keyring"),
        ("cli", "keyring"),
        ("assistant", "surefoot.flows.vault"),
        ("planning", "surefoot.flows.vault"),
        ("flows", "surefoot.flows.vault"),
    ],
)
def test_a_wrong_import_is_found(tmp_path: Path, importer: str, imported: str):
    """Upward, sideways between independent rooms, the keyring anywhere but in models.keys, the vault of facts."""
    package = small_house(tmp_path)
    (package / "tools" / "types.py").write_text("")
    (package / importer / "wrong.py").write_text(f"import {imported}\n")
    done = lint(tmp_path)
    assert done.returncode != 0
    assert "BROKEN" in done.stdout
    assert f"surefoot.{importer}" in done.stdout


def test_a_room_without_a_place_is_found(tmp_path: Path):
    """A new room must be put among the layers."""
    package = small_house(tmp_path)
    (package / "attic").mkdir()
    (package / "attic" / "__init__.py").write_text("")
    done = lint(tmp_path)
    assert done.returncode != 0
    assert "attic" in done.stdout
