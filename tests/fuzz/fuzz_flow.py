"""Coverage-guided fuzzing of reading and checking flows, with atheris (`make fuzz`).

    python tests/fuzz/fuzz_flow.py WORK [libFuzzer's options]

WORK is a folder of its own for what is found; the examples of the rules and tests/fuzz/corpus are where it starts from.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import atheris

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

with atheris.instrument_imports(include=["surefoot.flows", "target"]):
    from target import read_and_check

    from surefoot.flows.rules import rules
    from surefoot.flows.steps import KINDS


def seeds(folder: Path) -> None:
    """The examples of the rules as JSON, and as YAML where that is the same text laid out by hand."""
    folder.mkdir(parents=True, exist_ok=True)
    for rule in rules():
        for number, example in enumerate((*rule.failing, *rule.passing)):
            (folder / f"{rule.code}-{number}").write_text(example.text, encoding="utf-8")
    for kind in KINDS.values():
        step = json.dumps(kind.example)
        (folder / f"yaml-{kind.name}").write_text(
            f"app: browser\nsteps:\n  - {step}\n  - next\n", encoding="utf-8"
        )


def words(path: Path) -> None:
    """The keys of flows, and what is special in a text, for the fuzzer to put in."""
    keys = {"app", "vars", "steps", "browser", *KINDS}
    keys |= {part.key for kind in KINDS.values() for part in kind.parts if part.key}
    signs = [
        "${",
        "}",
        "${email}",
        "${card number}",
        "a_b",
        "paying",
        "the cheapest fare",
        "buy",
        ": ",
        "\\n  - ",
    ]
    lines = [json.dumps(word).replace("\\n", "\\x0a") for word in [*sorted(keys), *signs]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Fuzz until the options end it; a finding is written down and ends it, too."""
    work = Path(sys.argv[1])
    seeds(work / "seeds")
    words(work / "words.dict")
    found = work / "corpus"
    found.mkdir(exist_ok=True)
    folders = [str(found), str(work / "seeds"), str(HERE / "corpus")]
    options = ["-max_len=4096", f"-dict={work / 'words.dict'}", f"-artifact_prefix={work}/"]
    atheris.Setup([sys.argv[0], *options, *sys.argv[2:], *folders], read_and_check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
