"""Files in one folder. Undo puts back the old content; a crash in the middle is told apart by its hash."""

from __future__ import annotations

import base64
import hashlib
import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot import redaction
from surefoot.errors import ToolError
from surefoot.tools.decorator import tool
from surefoot.tools.kits.folder import MAX_FILE, TEMPORARY, Folder
from surefoot.tools.kits.rows import LIST_LIMIT, MOST_OFFERED, count, listed, offered
from surefoot.tools.types import Context, Undo

if TYPE_CHECKING:
    from surefoot.settings import Settings

SHOWN_TEXT = 20_000
"""Characters of a file in an answer; more would not fit beside the conversation."""

_ALIASES = (
    "file",
    "document",
    "datei",
    "ordner",
    "fichier",
    "dossier",
    "archivo",
    "carpeta",
    "फ़ाइल",
    "文件",
    "ファイル",
)


def list_rows(settings: Settings, folder: str = "") -> list[dict[str, Any]]:
    """What lies in a folder: `{"name", "folder", "size"}`, by name; ToolError."""
    found = Folder(settings.files_folder).entries(folder)
    return [{"name": name, "folder": is_folder, "size": size} for name, is_folder, size in found]


def _capture(ctx: Context, arguments: dict[str, Any]) -> dict[str, Any]:
    """The file as it is: `sha256` null where there is none, `problem` where it cannot be read (or written, then)."""
    path = str(arguments.get("path", ""))
    folder = Folder(ctx.settings.files_folder)
    image: dict[str, Any] = {"path": path, "sha256": None}
    try:
        content = folder.find(path)
        if content is None:
            return {**image, "folders": folder.depth(path)}
    except ToolError as error:
        return {**image, "problem": error.message}
    return {
        **image,
        "sha256": hashlib.sha256(content.data).hexdigest(),
        "content": base64.b64encode(content.data).decode("ascii"),
        "mode": content.mode,
    }


def _restore(ctx: Context, arguments: dict[str, Any], image: dict[str, Any]) -> None:
    del arguments
    folder = Folder(ctx.settings.files_folder)
    if "problem" in image:
        raise ToolError(
            f"{image['path']!r} could not be read before: {image['problem']}", "Restore it by hand."
        )
    if image["sha256"] is None:
        folder.remove(image["path"], keep_folders=image["folders"])
        return
    now = folder.find(image["path"])
    data = base64.b64decode(image["content"])
    if now is None or (now.data, now.mode) != (data, image["mode"]):
        folder.write(image["path"], data, mode=image["mode"], token=ctx.new_id(1))


@tool(name="listFiles", kit="files", effect="read", aliases=("folder", "directory", *_ALIASES))
def list_files(ctx: Context, folder: str = "") -> dict[str, Any]:
    """List the files in a folder."""
    if not ctx.settings.files_folder.exists() and not folder.strip("./"):
        return listed("files", [], 0, "file")
    found = list_rows(ctx.settings, folder)
    items = [
        {"name": f"{one['name']}/"} if one["folder"] else {"name": one["name"], "size": one["size"]}
        for one in found[:LIST_LIMIT]
    ]
    return listed("files", items, len(found), "file")


def _paths(ctx: Context) -> list[str] | None:
    """The files that may be read, by path; None when they are too many."""
    root = ctx.settings.files_folder
    walked = (Path(folder, name) for folder, _, names in os.walk(root) for name in names)
    found = (path for path in walked if not path.name.startswith(TEMPORARY) and not path.is_symlink())
    return offered(sorted(path.relative_to(root).as_posix() for path in islice(found, MOST_OFFERED + 1)))


@tool(
    name="readFile",
    kit="files",
    effect="read",
    options={"path": _paths},
    aliases=("open", "show", "lesen", "lire", "leer", *_ALIASES),
)
def read_file(ctx: Context, path: str) -> dict[str, Any]:
    """Read a text file."""
    data = Folder(ctx.settings.files_folder).read(path).data
    text = redaction.redact(_as_text(data, path))  # before the cut: half a secret is not known any more
    cut = {"cut": True} if len(text) > SHOWN_TEXT else {}
    return {
        "path": path,
        "untrusted": True,
        "text": text[:SHOWN_TEXT],
        **cut,
        "message": f"{path}, {count(len(text), 'character')}",
    }


def _as_text(data: bytes, path: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ToolError(
            f"{path!r} is no text in UTF-8.", "Only text files can be read.", path=path
        ) from error
    if "\0" in text:
        raise ToolError(f"{path!r} is no text.", "Only text files can be read.", path=path)
    return text


@tool(
    name="writeFile",
    kit="files",
    effect="write",
    undo=Undo(_capture, _restore),
    aliases=("save", "speichern", "schreiben", "enregistrer", "guardar", "保存", *_ALIASES),
)
def write_file(ctx: Context, path: str, text: str) -> dict[str, Any]:
    """Write a text file, replacing what it held."""
    folder = Folder(ctx.settings.files_folder)
    before = folder.find(path)  # a file that could not be put back is not replaced
    data = text.encode("utf-8", "replace")
    folder.write(path, data, mode=before.mode if before else None, token=ctx.new_id())
    what = "replaced" if before else "written"
    return {"path": path, "size": len(data), "message": f"{path} {what}, {count(len(data), 'byte')}"}


@tool(
    name="deleteFile",
    kit="files",
    effect="write",
    undo=Undo(_capture, _restore),
    aliases=("remove", "löschen", "supprimer", "borrar", "删除", "削除", *_ALIASES),
)
def delete_file(ctx: Context, path: str) -> dict[str, Any]:
    """Delete a file."""
    folder = Folder(ctx.settings.files_folder)
    folder.read(path)  # a file that could not be put back is not deleted
    folder.remove(path)
    return {"path": path, "message": f"{path} deleted"}


__all__ = ["MAX_FILE", "TOOLS", "list_rows"]

TOOLS = [list_files, read_file, write_file, delete_file]
