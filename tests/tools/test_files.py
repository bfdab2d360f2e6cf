"""Files: one folder that nothing reaches out of, whole writes, undo by content."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot import redaction
from surefoot.errors import SurefootError, ToolError
from surefoot.settings import Settings
from surefoot.tools import Catalogue, kits, prepare
from surefoot.tools.kits import files, folder
from surefoot.tools.kits.folder import Folder, parts_of
from surefoot.tools.types import Context

from .harness import context

CATALOGUE = Catalogue(kits.builtin(["files"]))


class Desk:
    """Calls file tools as the executor does."""

    def __init__(self, folder_: Path) -> None:
        self.root = folder_ / "files"
        self.outside = folder_ / "outside"
        self.outside.mkdir()
        (self.outside / "secret.txt").write_text("secret")
        self._ctx = context(folder_)
        self._calls = 0

    def ctx(self) -> Context:
        self._calls += 1
        return replace(self._ctx, call=f"step.{self._calls}")

    def __call__(self, name: str, **arguments: Any) -> Any:
        tool = CATALOGUE.get(name)
        return tool.invoke(self.ctx(), prepare(tool, arguments)[0])

    def image(self, name: str, ctx: Context, arguments: dict[str, Any]) -> Any:
        undo = CATALOGUE.get(name).undo
        assert undo is not None
        return json.loads(json.dumps(undo.capture(ctx, arguments)))

    def restore(self, name: str, ctx: Context, arguments: dict[str, Any], image: Any) -> None:
        undo = CATALOGUE.get(name).undo
        assert undo is not None
        undo.restore(ctx, arguments, image)

    def tree(self) -> dict[str, Any]:
        """All that lies in the folder: content and permissions."""
        return {
            str(path.relative_to(self.root)): (path.read_bytes(), path.stat().st_mode)
            if path.is_file()
            else "folder"
            for path in sorted(self.root.rglob("*"))
        }


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_write_read_list_delete(desk: Desk):
    """The ordinary way."""
    assert desk("listFiles") == {"files": [], "total": 0, "message": "0 files"}
    assert (
        desk("writeFile", path="notes/list.txt", text="Milk ü")["message"]
        == "notes/list.txt written, 7 bytes"
    )
    assert desk("writeFile", path="notes//./list.txt", text="Bread")["message"].startswith(
        "notes//./list.txt replaced"
    )
    assert desk("listFiles")["files"] == [{"name": "notes/"}]
    assert desk("listFiles", folder="notes/")["files"] == [{"name": "list.txt", "size": 5}]
    found = desk("readFile", path="notes/list.txt")
    assert (found["text"], found["untrusted"]) == ("Bread", True)
    assert desk("deleteFile", path="notes/list.txt")["message"] == "notes/list.txt deleted"
    assert files.list_rows(desk.ctx().settings, "notes") == []


@pytest.mark.parametrize(
    "path",
    ["../outside/secret.txt", "a/../../outside/secret.txt", "..", "/etc/passwd", "~/x", "C:/x", "a\\..\\b", "a/\0b", "x" * 256, "a\nb",
     "\ud800", "/".join("a" * 22), "", "a/", ".", ".surefoot-abc"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["readFile", "writeFile", "deleteFile"])
def test_paths_that_are_refused(desk: Desk, name: str, path: str):
    """Up, absolute, home, drives, control signs, too long or deep, no file: each is named and nothing happens."""
    arguments = {"path": path, **({"text": "x"} if name == "writeFile" else {})}
    tool = CATALOGUE.get(name)
    with pytest.raises(ToolError) as caught:
        tool.invoke(desk.ctx(), arguments)
    assert repr(path) in caught.value.message
    assert caught.value.next_move
    assert not desk.root.exists() or not desk.tree()
    if tool.undo:
        assert "problem" in desk.image(name, desk.ctx(), arguments)
    assert (desk.outside / "secret.txt").read_text() == "secret"


def test_names_that_only_look_dangerous(desk: Desk):
    """Two dots inside a name lead nowhere; hidden files and other scripts are names."""
    for path in ("..a", "a..b/c", ".hidden", "買い物/リスト.txt", "a b", "-rf"):
        desk("writeFile", path=path, text="x")
        assert desk("readFile", path=path)["text"] == "x"
    assert parts_of("./a//b/") == ("a", "b")


@pytest.mark.parametrize("kind", ["file", "folder", "middle", "loop", "dangling"])
def test_links_are_never_followed(desk: Desk, kind: str):
    """A link to a file, to a folder, on the way, to itself, or to nothing: not read, not written through, not deleted."""
    desk.root.mkdir()
    target = {
        "file": desk.outside / "secret.txt",
        "loop": desk.root / "link",
        "dangling": desk.outside / "new.txt",
    }
    (desk.root / "link").symlink_to(target.get(kind, desk.outside))
    path = "link/secret.txt" if kind in {"folder", "middle"} else "link"
    if kind == "middle":
        path = "link/deeper/secret.txt"
    for name in ("readFile", "writeFile", "deleteFile"):
        with pytest.raises(ToolError):
            desk(name, **{"path": path, **({"text": "x"} if name == "writeFile" else {})})
    assert sorted(one.name for one in desk.outside.iterdir()) == ["secret.txt"]
    assert (desk.outside / "secret.txt").read_text() == "secret"
    assert (desk.root / "link").is_symlink()
    assert desk("listFiles")["files"] == []
    with pytest.raises(ToolError):
        desk("listFiles", folder="link")


def test_hard_links_are_not_read_and_not_written_through(desk: Desk):
    """One of them may lie outside, and nobody can tell."""
    desk.root.mkdir()
    (desk.root / "inside.txt").hardlink_to(desk.outside / "secret.txt")
    for name in ("readFile", "writeFile", "deleteFile"):
        with pytest.raises(ToolError, match="hard links"):
            desk(name, **{"path": "inside.txt", **({"text": "x"} if name == "writeFile" else {})})
    assert (desk.outside / "secret.txt").read_text() == "secret"


def test_a_link_put_there_in_the_middle(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    """A folder that is swapped for a link between two steps is refused, not followed."""
    desk("writeFile", path="a/b/c.txt", text="x")
    real = os.open

    def swapping(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if path == "b" and not (desk.root / "a/b").is_symlink():
            (desk.root / "a/b").rename(desk.root / "a/old")
            (desk.root / "a/b").symlink_to(desk.outside)
        return real(path, flags, *args, **kwargs)

    monkeypatch.setattr(folder.os, "open", swapping)
    with pytest.raises(ToolError):
        desk("readFile", path="a/b/secret.txt")
    with pytest.raises(ToolError):
        desk("writeFile", path="a/b/secret.txt", text="stolen")
    assert (desk.outside / "secret.txt").read_text() == "secret"


def test_the_folder_itself_may_be_a_link(desk: Desk, tmp_path: Path):
    """The person chose it."""
    (tmp_path / "chosen").symlink_to(desk.outside)
    assert Folder(tmp_path / "chosen").read("secret.txt").data == b"secret"


def test_special_files(desk: Desk):
    """A pipe does not hang, a folder is no file, a file is no folder."""
    desk.root.mkdir()
    os.mkfifo(desk.root / "pipe")
    (desk.root / "sub").mkdir()
    (desk.root / "file").write_text("x")
    for path in ("pipe", "sub"):
        for name in ("readFile", "writeFile", "deleteFile"):
            with pytest.raises(ToolError):
                desk(name, **{"path": path, **({"text": "x"} if name == "writeFile" else {})})
    for path in ("file/x", "missing", "missing/x"):
        with pytest.raises(ToolError):
            desk("readFile", path=path)
    with pytest.raises(ToolError):
        desk("writeFile", path="file/x", text="y")
    with pytest.raises(ToolError):
        desk("listFiles", folder="file")
    assert desk("listFiles")["files"] == [{"name": "file", "size": 1}, {"name": "sub/"}]
    with pytest.raises(ToolError, match="is a folder"):
        Folder(desk.root).write("sub", b"x", token="t")
    with pytest.raises(ToolError, match="no ordinary file"):
        Folder(desk.root).remove("pipe")
    with pytest.raises(ToolError, match="is no file"):
        Folder(desk.root).read("pipe")


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"a\0b", b"\x80abc"])
def test_only_text_is_read(desk: Desk, data: bytes):
    """Bytes that are no UTF-8 text are refused; a byte order mark is not part of the text."""
    desk.root.mkdir()
    (desk.root / "data").write_bytes(data)
    with pytest.raises(ToolError, match="no text"):
        desk("readFile", path="data")
    (desk.root / "data").write_bytes(b"\xef\xbb\xbftext")
    assert desk("readFile", path="data")["text"] == "text"


def test_sizes(desk: Desk):
    """Large files are neither read, written nor replaced; long texts are cut in the answer."""
    desk.root.mkdir()
    (desk.root / "large").write_bytes(b"x" * (folder.MAX_FILE + 1))
    for name in ("readFile", "writeFile", "deleteFile"):
        with pytest.raises(ToolError, match="larger than"):
            desk(name, **{"path": "large", **({"text": "x"} if name == "writeFile" else {})})
    with pytest.raises(ToolError, match="are allowed"):
        desk("writeFile", path="new", text="ü" * folder.MAX_FILE)
    assert not (desk.root / "new").exists()
    (desk.root / "long").write_text("x" * 20_001)
    found = desk("readFile", path="long")
    assert (len(found["text"]), found["cut"]) == (20_000, True)
    for number in range(52):
        (desk.root / f"n{number:02}").write_text("")
    assert (len(desk("listFiles")["files"]), desk("listFiles")["total"]) == (50, 54)


@pytest.mark.parametrize("existing", [None, b"old", b"\xff\x00binary"])
@pytest.mark.parametrize("name", ["writeFile", "deleteFile"])
def test_undo_and_redo(desk: Desk, name: str, existing: bytes | None):
    """Content and permissions come back to the byte, new folders go again; twice is the same as once."""
    if name == "deleteFile" and existing is None:
        existing = b""
    desk.root.mkdir()
    if existing is not None:
        (desk.root / "a/b").mkdir(parents=True)
        (desk.root / "a/b/c.txt").write_bytes(existing)
        (desk.root / "a/b/c.txt").chmod(0o640)
    arguments = {"path": "a/b/c.txt", **({"text": "new"} if name == "writeFile" else {})}
    ctx = desk.ctx()
    before, tree = desk.image(name, ctx, arguments), desk.tree()
    CATALOGUE.get(name).invoke(ctx, arguments)
    after, changed = desk.image(name, ctx, arguments), desk.tree()
    assert before != after
    for image, right in ((before, tree), (before, tree), (after, changed), (after, changed), (before, tree)):
        desk.restore(name, ctx, arguments, image)
        assert desk.tree() == right
        assert desk.image(name, ctx, arguments) == image


def test_folders_that_others_use_stay(desk: Desk):
    """Undo of a new file takes its new folders away only while they are empty."""
    ctx, arguments = desk.ctx(), {"path": "a/b/c.txt", "text": "x"}
    before = desk.image("writeFile", ctx, arguments)
    CATALOGUE.get("writeFile").invoke(ctx, arguments)
    desk("writeFile", path="a/other.txt", text="y")
    desk.restore("writeFile", ctx, arguments, before)
    assert set(desk.tree()) == {"a", "a/other.txt"}
    desk.restore("writeFile", ctx, arguments, before)
    assert set(desk.tree()) == {"a", "a/other.txt"}


def test_a_crash_is_told_apart_by_the_hash(desk: Desk):
    """Before the rename nothing has changed, behind it all has; what a crash left is taken away by the next try."""
    desk("writeFile", path="c.txt", text="old")
    ctx, arguments = desk.ctx(), {"path": "c.txt", "text": "new"}
    before = desk.image("writeFile", ctx, arguments)
    left = desk.root / f".surefoot-{ctx.new_id()}"
    left.write_text("half")
    assert desk.image("writeFile", ctx, arguments) == before
    assert desk("listFiles")["files"] == [{"name": "c.txt", "size": 3}]
    CATALOGUE.get("writeFile").invoke(ctx, arguments)
    assert not left.exists()
    assert desk.image("writeFile", ctx, arguments)["sha256"] != before["sha256"]


def test_an_unreadable_image_is_not_restored(desk: Desk):
    """What could not be read before cannot be put back, and that is said."""
    with pytest.raises(ToolError, match="could not be read before"):
        desk.restore("writeFile", desk.ctx(), {}, {"path": "x", "sha256": None, "problem": "a link"})


def test_a_missing_root(desk: Desk):
    """Nothing is there yet: reads say so, an image says so, a deletion of nothing is none."""
    with pytest.raises(ToolError, match="There is no"):
        desk("readFile", path="x")
    with pytest.raises(ToolError, match="There is no"):
        desk("listFiles", folder="x")
    assert desk.image("deleteFile", desk.ctx(), {"path": "a/x"}) == {
        "path": "a/x",
        "sha256": None,
        "folders": 0,
    }
    Folder(desk.root).remove("a/x", keep_folders=0)
    assert not desk.root.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(desk: Desk):
    """The system's reason is passed on."""
    desk.root.mkdir(mode=0o500)
    with pytest.raises(ToolError, match="Permission denied"):
        desk("writeFile", path="x", text="y")


def test_a_disk_that_fails(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    """A full disk is a tool's failure with its reason, and the old content stays."""
    desk("writeFile", path="x", text="old")

    def full(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder.os, "replace", full)
    with pytest.raises(ToolError, match="No space left"):
        desk("writeFile", path="x", text="new")
    assert desk("readFile", path="x")["text"] == "old"


def test_the_default_folder(tmp_path: Path):
    """It lies in the data folder, and is made for its owner."""
    settings = Settings(data_dir=tmp_path / "data")
    CATALOGUE.get("writeFile").invoke(context(tmp_path, settings=settings), {"path": "x", "text": "y"})
    assert (tmp_path / "data" / "files" / "x").read_text() == "y"
    assert (tmp_path / "data" / "files").stat().st_mode & 0o077 == 0
    assert issubclass(ToolError, SurefootError)


@pytest.mark.parametrize("seen", range(-1, 20, 4))
def test_a_secret_at_the_cut_of_a_long_file_is_masked_whole(desk: Desk, seen: int):
    """Half of it would be known to no mask any more, and would go on to model and journal."""
    secret = "planted-0123456789"
    desk.root.mkdir()
    (desk.root / "long.txt").write_text("x" * (files.SHOWN_TEXT - seen) + secret + "y" * 100)
    with redaction.secrets(secret):
        text = desk("readFile", path="long.txt")["text"]
    assert "p" not in text
    assert len(text) == files.SHOWN_TEXT
