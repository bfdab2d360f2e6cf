"""The SDK, which is an extra: whether it is there, and that it keeps quiet."""

from __future__ import annotations

import logging
from importlib.util import find_spec


def installed() -> bool:
    """The extra `mcp` is installed. It is not imported for that."""
    return find_spec("mcp") is not None


def quiet() -> None:
    """Without a handler, warnings of the SDK go to standard error, with whatever a server wrote in them."""
    for name in ("mcp", "httpx2", "httpcore2"):
        logger = logging.getLogger(name)
        if not any(isinstance(handler, logging.NullHandler) for handler in logger.handlers):
            logger.addHandler(logging.NullHandler())
