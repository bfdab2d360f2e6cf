"""The documentation: generated pages are generated, and every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import docs

ROOT = Path(__file__).parent.parent
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchors(text: str) -> set[str]:
    """What the headings of a page can be linked by."""
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_a_page_out_of_date_is_found_and_mended(tmp_path: Path, capsys):
    """--check says which; without it the page is written; then nothing is left to do."""
    assert docs.main(["--check"], tmp_path) == 1
    assert "docs/settings.md is out of date" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert docs.main([], tmp_path) == 0
    assert {path.name for path in tmp_path.iterdir()} == set(docs.PAGES)
    assert docs.main(["--check"], tmp_path) == 0
    (tmp_path / "errors.md").write_text("edited by hand")
    assert docs.main(["--check"], tmp_path) == 1
    assert capsys.readouterr().err.count("out of date") == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path):
    """Files exist, and so do the headings that links name."""
    for link in LINK.findall(re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{page.name}: {link}"


def test_the_index_names_every_page():
    """No page is hidden."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    linked = set(LINK.findall(index))
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert pages - linked == {"index.md"}
