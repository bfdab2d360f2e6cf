"""Every error Surefoot raises, split by who must act.

    SurefootError
    ├── MisuseError             the developer: the code that calls us is wrong
    │   ├── ToolDefinitionError
    │   └── InverseMissingError
    ├── ProviderError           the provider of the model: network, quota, refusal, capability
    │   ├── NoModelError             no model can be used at all
    │   ├── ModelNotFoundError       the provider has no model of that name
    │   ├── ModelFileError           the weights are missing, damaged or unreadable
    │   ├── ProviderCapabilityError  the model cannot do what is asked, said before any call
    │   ├── ProviderAuthError        the key is missing or refused
    │   ├── ProviderQuotaError       the account is empty; trying again does not help
    │   ├── ProviderRateLimitError   too fast; `retry_after` seconds
    │   ├── ProviderRequestError     the provider rejected the request
    │   ├── ProviderUnavailableError it did not answer, or answered 5xx
    │   │   └── ProviderTimeoutError     it took longer than the limit
    │   ├── ContextLengthError       the prompt does not fit; never cut silently
    │   ├── PlannerNotConfiguredError  no model plans flows here
    │   ├── PlanFailedError          a task came to no flow that may run
    │   └── ReplyError               an answer that must not be used
    │       ├── ContentFilterError       safety or recitation
    │       ├── OutputCutError           cut by the output limit
    │       ├── MalformedCallError       a tool call that cannot be read
    │       └── EmptyReplyError          nothing at all
    ├── LimitError              a limit: it was set on purpose, raise it or split the work
    │   ├── BudgetExceededError
    │   └── PolicyDeniedError
    ├── PersonError             the person: input, approval
    │   ├── InputError               a value that cannot be used
    │   │   ├── ArgumentError            a tool's arguments do not fit its schema
    │   │   ├── SettingsError            a setting or the settings file
    │   │   ├── AddressRefusedError      an address the policy does not allow
    │   │   ├── FlowInvalidError         a flow that the checker refuses
    │   │   └── FactError                a fact's name or value
    │   ├── UnreadableInputError     a file or text that cannot be read at all
    │   ├── NotFoundError            no run, note, task or file of that name
    │   ├── AmbiguousError           several things fit the name
    │   └── StateError               not possible in the state it is in
    ├── StorageError            the disk or the database: full, locked, damaged, newer than this version
    │   └── VaultError              facts at rest cannot be read
    └── ToolError               a tool failed: data for the model, never the end of a run
        └── OutcomeUnknownError     it may have had its effect: what it called was lost over it

An error has a stable `code`, a `message` that names the value, and a `next_move`. All of it survives pickling and
JSON (`to_dict`, `error_from_dict`), but for registered secrets, which are masked wherever an error is shown or written.
`exit_code` is what the command line returns for it.
"""

from __future__ import annotations

from typing import Any, ClassVar

from surefoot import redaction

Json = Any
"""Anything `json.dumps` takes: None, bool, int, float, str, and lists and string-keyed dicts of them."""


class SurefootError(Exception):
    """Base of all errors.

    Args:
        message: what was wrong, with the offending value in it; one or two sentences.
        next_move: what to do now, as a sentence; may be empty where the message says it.
        details: JSON values for programs (the value, the allowed ones, numbers).
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str = "", next_move: str = "", **details: Json) -> None:
        self.message = message or (type(self).__doc__ or self.code).splitlines()[0]
        self.next_move = next_move
        self.details = details
        super().__init__(self.message)

    def __str__(self) -> str:
        return redaction.redact(f"{self.message} {self.next_move}".strip())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({redaction.redact(self.message)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        texts = redaction.redact(self.message), redaction.redact(self.next_move)
        return (_rebuild, (type(self), *texts, redaction.redact_json(self.details)))

    def to_dict(self) -> dict[str, Json]:
        """The error as JSON, registered secrets masked: `{"code", "message", "next_move", "details"}`."""
        return {
            "code": self.code,
            "message": redaction.redact(self.message),
            "next_move": redaction.redact(self.next_move),
            "details": redaction.redact_json(self.details),
        }


def _rebuild(
    kind: type[SurefootError], message: str, next_move: str, details: dict[str, Json]
) -> SurefootError:
    error = kind(message, next_move)
    error.details = details  # not as keywords: another program's details may be named `message`
    return error


# --- the developer -------------------------------------------------------------------------------------------


class MisuseError(SurefootError):
    """Surefoot was called in a way it cannot serve."""

    code = "misuse"
    exit_code = 2


class ToolDefinitionError(MisuseError):
    """A tool is defined in a way that cannot work."""

    code = "tool_definition"


class InverseMissingError(MisuseError):
    """The inverse that a call named when it was made is not registered any more."""

    code = "inverse_missing"
    exit_code = 1


# --- the provider --------------------------------------------------------------------------------------------


class ProviderError(SurefootError):
    """The provider of the model failed."""

    code = "provider_error"
    exit_code = 3
    kind: ClassVar[str] = "unknown"
    """For metrics: safety, rate_limit, capability, auth or unknown."""


class NoModelError(ProviderError):
    """There is no model to use."""

    code = "no_model"


class ModelNotFoundError(ProviderError):
    """The provider has no model of that name."""

    code = "model_not_found"


class ModelFileError(ProviderError):
    """The weights are missing, damaged or cannot be read."""

    code = "model_file"


class ProviderCapabilityError(ProviderError):
    """The model cannot do what was asked of it."""

    code = "capability"
    exit_code = 4
    kind = "capability"


class ProviderAuthError(ProviderError):
    """The provider refused the key, or there is none."""

    code = "auth"
    kind = "auth"


class ProviderQuotaError(ProviderError):
    """The account is spent."""

    code = "quota"
    kind = "rate_limit"


class ProviderRateLimitError(ProviderError):
    """The provider asks to slow down; `retry_after` is its floor in seconds, None when it named none."""

    code = "rate_limit"
    kind = "rate_limit"

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait at least, as the provider said."""
        value = self.details.get("retry_after")
        return None if value is None else float(value)


class ProviderRequestError(ProviderError):
    """The provider rejected the request."""

    code = "bad_request"


class ProviderUnavailableError(ProviderError):
    """The provider cannot be reached or answered with a server error."""

    code = "unavailable"


class ProviderTimeoutError(ProviderUnavailableError):
    """The provider took longer than the limit."""

    code = "timeout"


class ContextLengthError(ProviderError):
    """The prompt does not fit into the model's context."""

    code = "context_length"


class PlannerNotConfiguredError(ProviderError):
    """No model plans flows here."""

    code = "PLANNER_NOT_CONFIGURED"


class PlanFailedError(ProviderError):
    """No flow was planned: the model failed or its flow stayed invalid; details hold `problems` and `attempts`."""

    code = "PLAN_FAILED"


class ReplyError(ProviderError):
    """The model's answer must not be used."""

    code = "reply"


class ContentFilterError(ReplyError):
    """The provider's filter stopped the answer."""

    code = "content_filter"
    kind = "safety"


class OutputCutError(ReplyError):
    """The answer was cut at the output limit."""

    code = "output_cut"


class MalformedCallError(ReplyError):
    """The model wrote a tool call that cannot be read."""

    code = "malformed_call"


class EmptyReplyError(ReplyError):
    """The model answered with nothing."""

    code = "empty_reply"


# --- a limit -------------------------------------------------------------------------------------------------


class LimitError(SurefootError):
    """A limit that was set on purpose stopped this."""

    code = "limit"
    exit_code = 4


class BudgetExceededError(LimitError):
    """A budget of the run is used up; details hold `limit`, `allowed` and `used`."""

    code = "budget"


class PolicyDeniedError(LimitError):
    """The policy denies this tool."""

    code = "denied"


# --- the person ----------------------------------------------------------------------------------------------


class PersonError(SurefootError):
    """Something the person gave cannot be used."""

    code = "person"
    exit_code = 2


class InputError(PersonError):
    """A value cannot be used."""

    code = "input"


class ArgumentError(InputError):
    """A tool's arguments do not fit its schema; details hold `problems`, one sentence each."""

    code = "arguments"


class SettingsError(InputError):
    """A setting cannot be used."""

    code = "settings"


class AddressRefusedError(InputError):
    """The address policy does not allow this address."""

    code = "address_refused"


class FlowInvalidError(InputError):
    """A flow cannot be used as it is; details hold `problems`, each with `path`, `code`, `message` and `line`."""

    code = "flow_invalid"


class FactError(InputError):
    """A fact's name or value cannot be used. Details hold `reason`: `name`, `value` or `unknown`."""

    code = "fact"


class UnreadableInputError(PersonError):
    """A file or text cannot be read."""

    code = "unreadable"
    exit_code = 6


class NotFoundError(PersonError):
    """Nothing of that name."""

    code = "not_found"


class AmbiguousError(PersonError):
    """Several things fit that name; details hold `candidates`."""

    code = "ambiguous"


class StateError(PersonError):
    """Not possible in the state it is in."""

    code = "state"


# --- the disk, and tools -------------------------------------------------------------------------------------


class StorageError(SurefootError):
    """The database or the disk failed."""

    code = "storage"
    exit_code = 1


class VaultError(StorageError):
    """Facts at rest cannot be read. Details hold `reason`: `key`, `damaged`; and `names` of the facts."""

    code = "vault"


class ToolError(SurefootError):
    """A tool failed. The run goes on: the model, or the person, reads the message."""

    code = "tool_failed"


class OutcomeUnknownError(ToolError):
    """A tool may have had its effect, and nobody can say. An external call is then journaled as unknown."""

    code = "outcome_unknown"


def _tree(kind: type[SurefootError]) -> dict[str, type[SurefootError]]:
    """Every class by its code. A class that brings no code of its own does not take its parent's place."""
    found = {kind.code: kind}
    for child in kind.__subclasses__():
        found = _tree(child) | found
    return found


def error_from_dict(data: dict[str, Json]) -> SurefootError:
    """The error that `to_dict` wrote; an unknown code becomes a plain `SurefootError` with that code in details."""
    code = str(data.get("code", ""))
    kind = _tree(SurefootError).get(code)
    details = dict(data.get("details") or {})
    if kind is None:
        kind = SurefootError
        details["unknown_code"] = code
    return _rebuild(kind, str(data.get("message", "")), str(data.get("next_move", "")), details)
