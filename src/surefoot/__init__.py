"""Surefoot plans what a language-model agent will do, checks it, runs it, journals it and can undo it.

The names in `__all__` are the public face. Each loads when first used, so that `import surefoot` costs next
to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.assistant import Assistant
    from surefoot.errors import (
        AddressRefusedError,
        AmbiguousError,
        ArgumentError,
        BudgetExceededError,
        ContentFilterError,
        ContextLengthError,
        EmptyReplyError,
        FactError,
        FlowInvalidError,
        InputError,
        InverseMissingError,
        LimitError,
        MalformedCallError,
        MisuseError,
        ModelFileError,
        ModelNotFoundError,
        NoModelError,
        NotFoundError,
        OutcomeUnknownError,
        OutputCutError,
        PersonError,
        PlanFailedError,
        PlannerNotConfiguredError,
        PolicyDeniedError,
        ProviderAuthError,
        ProviderCapabilityError,
        ProviderError,
        ProviderQuotaError,
        ProviderRateLimitError,
        ProviderRequestError,
        ProviderTimeoutError,
        ProviderUnavailableError,
        ReplyError,
        SettingsError,
        StateError,
        StorageError,
        SurefootError,
        ToolDefinitionError,
        ToolError,
        UnreadableInputError,
        VaultError,
    )
    from surefoot.events import Event, EventType
    from surefoot.journal import MemoryJournal, SqlJournal
    from surefoot.models import ScriptedModel
    from surefoot.models.types import Completion, LanguageModel, Message, Request, ToolCall
    from surefoot.settings import Settings, load_settings
    from surefoot.tools import tool
    from surefoot.tools.types import Actor, Context, Effect, Tool, Undo

__all__ = [
    "Actor",
    "AddressRefusedError",
    "AmbiguousError",
    "ArgumentError",
    "Assistant",
    "BudgetExceededError",
    "Completion",
    "ContentFilterError",
    "Context",
    "ContextLengthError",
    "Effect",
    "EmptyReplyError",
    "Event",
    "EventType",
    "FactError",
    "FlowInvalidError",
    "InputError",
    "InverseMissingError",
    "LanguageModel",
    "LimitError",
    "MalformedCallError",
    "MemoryJournal",
    "Message",
    "MisuseError",
    "ModelFileError",
    "ModelNotFoundError",
    "NoModelError",
    "NotFoundError",
    "OutcomeUnknownError",
    "OutputCutError",
    "PersonError",
    "PlanFailedError",
    "PlannerNotConfiguredError",
    "PolicyDeniedError",
    "ProviderAuthError",
    "ProviderCapabilityError",
    "ProviderError",
    "ProviderQuotaError",
    "ProviderRateLimitError",
    "ProviderRequestError",
    "ProviderTimeoutError",
    "ProviderUnavailableError",
    "ReplyError",
    "Request",
    "ScriptedModel",
    "Settings",
    "SettingsError",
    "SqlJournal",
    "StateError",
    "StorageError",
    "SurefootError",
    "Tool",
    "ToolCall",
    "ToolDefinitionError",
    "ToolError",
    "Undo",
    "UnreadableInputError",
    "VaultError",
    "load_settings",
    "tool",
]

_HOMES = {
    "surefoot.assistant": ("Assistant",),
    "surefoot.events": ("Event", "EventType"),
    "surefoot.journal": ("MemoryJournal", "SqlJournal"),
    "surefoot.models": ("ScriptedModel",),
    "surefoot.models.types": ("Completion", "LanguageModel", "Message", "Request", "ToolCall"),
    "surefoot.settings": ("Settings", "load_settings"),
    "surefoot.tools": ("tool",),
    "surefoot.tools.types": ("Actor", "Context", "Effect", "Tool", "Undo"),
}
"""Where each public name lives; what stands nowhere here is an error class of `surefoot.errors`."""

_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("surefoot")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF.get(name, "surefoot.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
