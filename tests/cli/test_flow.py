"""`surefoot flow check|guide|schema|fmt`: what is right, what is wrong and where, and what cannot be read."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import stat
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from surefoot.cli.commands.flow import Surface
from surefoot.errors import StateError
from surefoot.flows import flow_guide, flow_schema
from surefoot.flows.formatting import layout
from surefoot.flows.steps import SURFACES

from .support import environment, run

GOOD = {"app": "browser", "steps": [{"browse": "https://example.com"}, {"enter": {"email": "${email}"}}]}
BAD_YAML = """\
app: browser
steps:
  - browse: https://example.com
  - if:
      condition: a banner is shown
      then:
        - close it
        - clck: the button
  - enter:
      email: ${mail}
"""


@pytest.fixture
def flow(tmp_path, monkeypatch):
    """Writes a file in the working folder; its name."""
    monkeypatch.chdir(tmp_path)

    def write(content, name="flow.json"):
        data = (
            content
            if isinstance(content, bytes)
            else (content if isinstance(content, str) else json.dumps(content)).encode()
        )
        (tmp_path / name).write_bytes(data)
        return name

    return write


def typed(monkeypatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))


# --- check ---------------------------------------------------------------------------------------------------------


def test_a_valid_flow(cli, flow):
    """Exit 0, and it says so."""
    ran = cli("flow", "check", flow(GOOD), "--fact", "email")
    assert (ran.code, ran.out, ran.err) == (0, "flow.json: a valid flow.\n", "")


def test_problems_are_told_with_file_line_step_and_code(cli, flow):
    """One line each, in the order of the file, and how many there are; exit 1."""
    ran = cli("flow", "check", flow(BAD_YAML, "flow.yaml"), "--fact", "email")
    first, second, last = ran.out.splitlines()
    assert ran.code == 1
    assert first.startswith("flow.yaml:8: step 2.2: ")
    assert '"clck"' in first
    assert first.endswith("  [unknown_step]")
    assert second.startswith("flow.yaml:10: step 3: ")
    assert "email" in second
    assert last == "flow.yaml: 2 problems."


def test_one_problem_is_one(cli, flow):
    """A problem of the whole flow names no step."""
    ran = cli("flow", "check", flow('{"app": "browser"}'))
    first, last = ran.out.splitlines()
    assert first.startswith("flow.json:1: the flow: ")
    assert last == "flow.json: 1 problem."


def test_problems_in_json(cli, flow):
    """Exactly these keys, at the top and in each."""
    ran = cli("flow", "check", flow(BAD_YAML, "flow.yaml"), "--json", "--fact", "email")
    assert ran.code == 1
    assert set(ran.json) == {"problems"}
    assert all(set(problem) == {"path", "code", "message", "line"} for problem in ran.json["problems"])
    first = ran.json["problems"][0]
    assert (first["path"], first["code"], first["line"]) == ("2.2", "unknown_step", 8)
    assert [one["line"] for one in ran.json["problems"]] == [8, 10]
    valid = cli("flow", "check", flow(GOOD), "--json", "--fact", "email")
    assert (valid.code, valid.json) == (0, {"problems": []})


def test_standard_input(cli, flow, monkeypatch):
    """`-` is the file's name then."""
    typed(monkeypatch, BAD_YAML.encode())
    ran = cli("flow", "check", "-", "--fact", "email")
    assert ran.out.startswith("-:8: step 2.2: ")
    typed(monkeypatch, b'{"app": ')
    ran = cli("flow", "check", "-")
    assert ran.code == 6
    assert "unreadable: standard input, line 1, column 9" in " ".join(ran.err.split())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"app": "browser",}', "flow.json, line 1, column 19"),
        ("app: 'browser", "no YAML"),
        (b"app: caf\xe9", "0xe9"),
        ("", "is empty"),
        ('{"app": "a", "app": "b"}', "second time"),
        ("[" * 5000, "more than 100"),
    ],
)
def test_what_cannot_be_read_ends_with_6(cli, flow, content, words):
    """Nothing on standard output, also with --json."""
    for more in ((), ("--json",)):
        ran = cli("flow", "check", flow(content), *more)
        assert (ran.code, ran.out) == (6, "")
        assert words in " ".join(ran.err.split())


def test_a_file_that_is_not_there_or_is_a_folder(cli, flow, tmp_path):
    """Cannot be read either."""
    assert cli("flow", "check", str(tmp_path / "none.json")).code == 6
    assert cli("flow", "check", str(tmp_path)).code == 6


def test_facts_and_secrets_by_name(cli, flow):
    """A secret may be entered and nothing else; without the names they are unknown."""
    name = flow({"app": "browser", "steps": [{"enter": {"field": "${code word}"}}, "say ${code word}"]})
    assert cli("flow", "check", name, "--fact", "code word").code == 0
    found = cli("flow", "check", name, "--secret", "code word", "--json").json["problems"]
    assert [problem["path"] for problem in found] == ["2"]
    found = cli("flow", "check", name, "--json").json["problems"]
    assert [problem["path"] for problem in found] == ["1", "2"]
    several = flow({"app": "browser", "steps": ["${a} ${b}"]}, "several.json")
    assert cli("flow", "check", several, "--fact", "a", "--fact", " b ").code == 0


@pytest.mark.parametrize("option", ["--fact", "--secret"])
@pytest.mark.parametrize("given", ["card number=4111111111111111", "pin=hunter2", "pin ="])
def test_a_value_is_never_taken_from_the_command_line(cli, flow, option, given):
    """Only names are wanted; the error names the name and does not repeat the value."""
    ran = cli("flow", "check", flow(GOOD), option, given)
    name, _, value = given.partition("=")
    assert ran.code == 2
    assert f"{option} takes a name only" in " ".join(ran.err.split())
    assert repr(name.strip()) in ran.err
    assert not value or value not in ran.out + ran.err


@pytest.mark.parametrize(
    "given",
    ["4111111111111111=card number", "4111 1111 1111 1111 = card", "sk_live_4eC39HqLyjWDarjtT1zdp7dc="],
)
def test_name_and_value_the_wrong_way_round_are_not_repeated(cli, flow, given):
    """What looks like a secret is masked where the name should stand, too."""
    ran = cli("flow", "check", flow(GOOD), "--fact", given)
    assert ran.code == 2
    assert given.partition("=")[0].strip() not in ran.out + ran.err
    assert "'[secret]'" in ran.err


@pytest.mark.parametrize("given", ["", "  "])
def test_an_empty_name_is_refused(cli, flow, given):
    """It would be no name."""
    ran = cli("flow", "check", flow(GOOD), "--fact", given)
    assert ran.code == 2
    assert "without a name" in ran.err


def test_surfaces(cli, flow):
    """What is not there cannot be used; without the option both are there; another word is no surface."""
    name = flow({"app": "browser", "steps": [{"browse": "https://example.com"}]})
    assert cli("flow", "check", name).code == 0
    assert cli("flow", "check", name, "--surface", "browser").code == 0
    assert cli("flow", "check", name, "--surface", "desktop").code == 1
    assert cli("flow", "check", name, "--surface", "desktop", "--surface", "browser").code == 0
    assert cli("flow", "check", name, "--surface", "phone").code == 2


def test_what_a_file_says_cannot_steer_the_terminal(cli, flow):
    """In names of steps and of the file."""
    name = flow('{"app": "browser", "steps": [{"\\u001b[2Jx\\u202e": "y"}]}', "a\x1b[31mb.json")
    out = cli("flow", "check", name).out
    assert not set("\x1b\u202e") & set(out)


def test_a_key_of_the_person_is_not_repeated(cli, flow, monkeypatch):
    """What stands in the environment as a key is masked in problems too."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk" + "-test-0123456789abcdef")
    out = cli("flow", "check", flow({"app": "browser", "steps": [{os.environ["OPENAI_API_KEY"]: "x"}]})).out
    assert "0123456789abcdef" not in out


def test_in_german(cli, flow, monkeypatch):
    """The words around the problems."""
    monkeypatch.setenv("SUREFOOT_LANGUAGE", "de")
    assert cli("flow", "check", flow(GOOD), "--fact", "email").out == "flow.json: ein gültiger Ablauf.\n"
    assert cli("flow", "check", flow(GOOD)).out.startswith("flow.json:1: Schritt 2: ")


def test_a_terminal_shows_the_same(cli, flow):
    """With colour, and no less."""
    ran = cli.at_terminal("flow", "check", flow(BAD_YAML, "flow.yaml"))
    assert "flow.yaml:8: step 2.2: " in ran.out
    assert ran.code == 1


# --- guide, schema -------------------------------------------------------------------------------------------------


def test_the_guide(cli):
    """As the library has it."""
    ran = cli("flow", "guide")
    assert (ran.code, ran.out, ran.err) == (0, flow_guide(), "")


def test_the_schema(cli):
    """As the library has it, one JSON value, fit for a file."""
    ran = cli("flow", "schema")
    assert (ran.code, ran.json, ran.err) == (0, flow_schema(), "")


def test_without_a_command_the_help_is_shown(cli):
    """It lists them."""
    ran = cli("flow")
    assert all(name in ran.out + ran.err for name in ("check", "guide", "schema", "fmt"))


# --- fmt -----------------------------------------------------------------------------------------------------------


def test_a_file_is_laid_out_in_place(cli, flow, tmp_path):
    """Its permissions stay, nothing is left beside it, and a second time nothing is written."""
    name = flow('{"steps":["a"],"app":"browser"}')
    path = tmp_path / name
    path.chmod(0o640)
    ran = cli("flow", "fmt", name)
    assert (ran.code, ran.out, ran.err) == (0, "", "flow.json: laid out anew.\n")
    assert path.read_text() == layout({"app": "browser", "steps": ["a"]})
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [one.name for one in tmp_path.iterdir()] == [name]
    before = path.stat()
    ran = cli("flow", "fmt", name)
    assert (ran.code, ran.err) == (0, "flow.json: laid out as it should be.\n")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert cli("flow", "fmt", name, "--quiet").err == ""


def test_a_link_stays_a_link(cli, flow, tmp_path):
    """What it leads to is laid out."""
    name = flow('{"steps":["a"],"app":"browser"}')
    (tmp_path / "link.json").symlink_to(name)
    assert cli("flow", "fmt", "link.json").code == 0
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / name).read_text() == layout({"app": "browser", "steps": ["a"]})


def test_check_changes_nothing(cli, flow, tmp_path):
    """Exit 1 where it would, 0 where it would not."""
    text = '{"steps":["a"],"app":"browser"}'
    name = flow(text)
    ran = cli("flow", "fmt", "--check", name)
    assert (ran.code, ran.out) == (1, "flow.json: not laid out as surefoot flow fmt does it.\n")
    assert (tmp_path / name).read_text() == text
    cli("flow", "fmt", name)
    assert (cli("flow", "fmt", "--check", name).code, cli("flow", "fmt", "--check", name).out) == (0, "")


def test_line_ends_of_windows_stay(cli, flow, tmp_path):
    """Version control may want them."""
    name = flow(b'{"app": "browser",\r\n"steps": ["a"]}')
    cli("flow", "fmt", name)
    assert (tmp_path / name).read_bytes() == layout({"app": "browser", "steps": ["a"]}).replace(
        "\n", "\r\n"
    ).encode()
    assert cli("flow", "fmt", "--check", name).code == 0


def test_standard_input_goes_to_standard_output(cli, monkeypatch):
    """For editors and pipes; also when it is laid out already."""
    tidy = layout({"app": "browser", "steps": ["größe"]})
    for text in ('{"steps":["größe"],"app":"browser"}', tidy):
        typed(monkeypatch, text.encode())
        ran = cli("flow", "fmt", "-")
        assert (ran.code, ran.out, ran.err) == (0, tidy, "")
    typed(monkeypatch, b'{"steps":["a"],"app":"browser"}')
    assert cli("flow", "fmt", "--check", "-").code == 1


def test_yaml_stays_as_it_is(cli, flow, tmp_path):
    """Its comments would be lost; --json prints it as JSON instead."""
    name = flow(f"# why\n{BAD_YAML}", "flow.yaml")
    ran = cli("flow", "fmt", name)
    assert (ran.code, ran.out) == (2, "")
    assert "is YAML" in ran.err
    assert (tmp_path / name).read_text().startswith("# why")
    ran = cli("flow", "fmt", "--json", name)
    assert ran.code == 0
    assert ran.out == layout(ran.json)
    assert ran.json["steps"][2] == {"enter": {"email": "${mail}"}}


def test_a_flow_with_problems_is_laid_out_and_an_unreadable_one_is_not(cli, flow, tmp_path):
    """What cannot be read stays as it is."""
    assert cli("flow", "fmt", flow('{"app": 7}')).code == 0
    name = flow('{"app": ')
    assert cli("flow", "fmt", name).code == 6
    assert (tmp_path / name).read_text() == '{"app": '


def test_a_file_that_may_not_be_written_stays_whole(cli, flow, tmp_path, monkeypatch):
    """And nothing is left beside it."""

    def refuse(*paths):
        raise PermissionError(13, "Permission denied", str(paths[1]))

    name = flow('{"steps":["a"],"app":"browser"}')
    monkeypatch.setattr("pathlib.Path.replace", refuse)
    ran = cli("flow", "fmt", name)
    assert ran.code == 1
    assert "Permission denied" in ran.err
    assert (tmp_path / name).read_text() == '{"steps":["a"],"app":"browser"}'
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_what_an_editor_saved_meanwhile_is_not_written_over(cli, flow, tmp_path, monkeypatch):
    """Between reading and writing the file changed: it stays as it is now, and nothing is left beside it."""
    name = flow('{"steps":["a"],"app":"browser"}')
    copymode = shutil.copymode

    def saved_by_an_editor(old, new):
        copymode(old, new)
        Path(old).write_text('{"app": "browser", "steps": ["newer"]}')

    monkeypatch.setattr("shutil.copymode", saved_by_an_editor)
    ran = cli("flow", "fmt", name)
    assert ran.code == StateError.exit_code
    assert "was changed meanwhile" in " ".join(ran.err.split())
    assert (tmp_path / name).read_text() == '{"app": "browser", "steps": ["newer"]}'
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_the_owner_stays(cli, flow, tmp_path, monkeypatch):
    """Laid out by the administrator, a file is still its owner's; where that may not be, it is laid out all the same."""
    name = flow('{"steps":["a"],"app":"browser"}')
    given = []
    monkeypatch.setattr("os.chown", lambda *who: given.append(who[1:]))
    before = (tmp_path / name).stat()
    assert cli("flow", "fmt", name).code == 0
    assert given == [(before.st_uid, before.st_gid)]

    def refuse(*_who):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.chown", refuse)
    assert cli("flow", "fmt", flow('{"steps":["b"],"app":"browser"}')).code == 0
    assert json.loads((tmp_path / name).read_text())["steps"] == ["b"]


def test_a_file_in_a_folder_that_cannot_be_written(cli, flow, tmp_path, monkeypatch):
    """The error names the file, not the one that would have taken its place."""

    def refuse(**_options):
        raise OSError(30, "Read-only file system", ".flow.json.x1y2z3")

    name = flow('{"steps":["a"],"app":"browser"}')
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    ran = cli("flow", "fmt", name)
    assert ran.code == 1
    assert f"'{name}' cannot be written: Read-only file system." in " ".join(ran.err.split())
    assert "x1y2z3" not in ran.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_named_pipe_stays_one(cli, tmp_path):
    """Only a plain file is laid out in its place."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=['{"steps":["a"],"app":"browser"}'])
    writer.start()
    ran = cli("flow", "fmt", str(pipe))
    writer.join()
    assert ran.code == 2
    assert "is no plain file" in " ".join(ran.err.split())
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_pipe_that_shows_only_ascii_gets_json(flow, tmp_path):
    """Escapes, as JSON has them, in a process of its own."""
    name = flow({"app": "browser", "steps": ["größe"]})
    env = environment(None, PYTHONIOENCODING="ascii")
    for command in (["fmt", "--json", name], ["fmt", "-"]):
        with (tmp_path / name).open("rb") as file:
            ran = run(["flow", *command], env, stdin=file, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        assert json.loads(ran.stdout)["steps"] == ["größe"]
        assert ran.stdout.isascii()


# --- the page ------------------------------------------------------------------------------------------------------


def commands_of_the_page() -> list[str]:
    page = (Path(__file__).parents[2] / "docs" / "flows.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("surefoot flow ")]


def test_the_commands_of_the_page_work(cli, flow, tmp_path):
    """One after the other, on the first flow of the page; the schema goes into a file."""
    page = (Path(__file__).parents[2] / "docs" / "flows.md").read_text(encoding="utf-8")
    flow(re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[0], "tea.json")
    ran = {}
    for line in commands_of_the_page():
        command, _, file = line.removeprefix("surefoot ").partition(" > ")
        ran[line] = cli(*shlex.split(command))
        assert ran[line].code == 0, line
        if file:
            (tmp_path / file).write_text(ran[line].out, encoding="utf-8")
    assert {line.split()[2] for line in ran} >= {"check", "guide", "schema", "fmt"}
    assert json.loads((tmp_path / "flow.schema.json").read_text(encoding="utf-8")) == flow_schema()


def test_the_surfaces_of_the_option_are_those_of_flows():
    """The option is read before the room is loaded."""
    assert {str(one) for one in Surface} == SURFACES
