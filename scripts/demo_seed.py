"""Puts a few tasks into the demo's own folder, through the same executor that every request goes through."""

from __future__ import annotations

import asyncio

from surefoot import Assistant, ScriptedModel, ToolCall

TASKS = {
    "Renew the library card": "1 May",
    "Dentist check-up": "4 May",
    "Water the plants at the office": "5 May",
    "File the tax return": "28 May",
}


async def main() -> None:
    """Add each task; its plan is given, so no model is needed."""
    for number, (title, due) in enumerate(TASKS.items()):
        plan = ToolCall(f"seed{number}", "addTask", {"title": title, "due": due})
        model = ScriptedModel([plan], f"{title} is on your list.")
        async with Assistant(model=model, kits=["tasks"]) as assistant:
            result = await assistant.ask(f"Add a task: {title}, due {due}")
            if result.exit_code:
                raise SystemExit(f"The demo's task {title!r} could not be added: {result.to_dict()}")


asyncio.run(main())
