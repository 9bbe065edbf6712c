"""What a Python hook of Crosier imports, and how its answers are read. It is used in two places: in workers, in front of
`worker.py`, and in the package `crosier`, as `crosier._hook`.

Loading this file delays every cold start of a worker, so slow modules are imported where they are first needed: most
hooks need neither json nor inspect, asyncio or traceback. It runs on Python 3.9 and later, without dependencies.
"""
from __future__ import annotations

import os
import sys
from time import monotonic

MAX_TRACEBACK = 30_000  # characters, the last ones
MAX_DIGITS = 20_000  # of an integer: reading one takes quadratic time, and must not end as a timeout
LIMITED = hasattr(sys, "set_int_max_str_digits")
MACHINERY = (__name__, "importlib", "asyncio")  # modules whose frames are not the hook's
join = "".join


class Failure(Exception):
    """Why there is no reply: one of the engine's failure kinds, a line for people, and a traceback if there is one.

    `deny` is the reason of a denial whose reply could not be serialized. An attacker can make a payload so large or so
    unusual that a reply which quotes it fails; that must not undo the denial."""

    def __init__(self, kind: str, detail: str, traceback: str = "", deny: str | None = None) -> None:
        self.kind, self.detail, self.traceback, self.deny = kind, detail[:2_000], traceback[-MAX_TRACEBACK:], deny


# --- JSON ------------------------------------------------------------------------------------------------------------
# The package `json` imports `re`, which takes half as long as starting python. Its C part works without it.
# Integers keep their digits. Floats are doubles: 1e400 arrives as inf, and a reply with inf or nan is refused.

def refuse(value: object) -> None:
    """Refuse values that Python would read or write but that are not JSON."""
    raise ValueError(f"{type(value).__name__} is not JSON")


def integer(text: str) -> int:
    """Read an integer where python itself does not limit its digits (before 3.9.14 and 3.10.7)."""
    if len(text) > MAX_DIGITS:
        raise ValueError(f"an integer of {len(text)} digits; {MAX_DIGITS} can be read")
    return int(text)


try:
    from _json import encode_basestring, make_encoder, make_scanner

    def scanner(constant):
        """A reader of JSON that calls this for words such as NaN."""
        options = {"strict": True, "parse_float": float, "parse_int": int if LIMITED else integer}
        unused = dict.fromkeys(("object_hook", "object_pairs_hook", "array_hook"))
        return make_scanner(type("Options", (), {**options, **unused, "parse_constant": constant}))

    scan = scanner(refuse)
    chunks = make_encoder(None, refuse, encode_basestring, None, ":", ",", False, False, False)
except (ImportError, AttributeError, TypeError):  # not CPython, or a version without this function
    import json

    def scanner(constant):
        return json.JSONDecoder(parse_int=int if LIMITED else integer, parse_constant=constant).scan_once

    scan = scanner(refuse)
    chunks = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=refuse).iterencode


def encode(value: object) -> bytes:
    """Write JSON. A lone surrogate, which a payload can hold and UTF-8 cannot, becomes U+FFFD: a deny that quotes the
    payload must arrive."""
    text = join(chunks(value, 0))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


# --- The module `crosier`, for hooks to import -----------------------------------------------------------------------

FIELDS = frozenset("""
    session_id transcript_path cwd permission_mode hook_event_name hook_type agent_id orchestrator_id timestamp
    trigger source agent_type model reason prompt output tool_name tool_input tool_use_id permission_suggestions
    tool_response tool_output error is_interrupt custom_instructions stop_hook_active agent_transcript_path config
    result from to path content commit view message title notification_type teammate_name team_name task_id
    task_subject task_description outcome expansion_type command_args command_source last_assistant_message
    compact_summary action file_path memory_type load_reason event delta final transformedPrompt""".split())


class Fields:
    """The fields of a dataclass, made on first use: `import dataclasses` takes longer than most hooks."""

    def __init__(self, *names: str, **defaults: object) -> None:
        self.names, self.defaults = names, defaults

    def __get__(self, _: object, owner: type) -> dict:
        import dataclasses
        kinds = {name: owner.__annotations__.get(name, object) for name in (*self.names, *self.defaults)}
        made = {}
        for name, kind in kinds.items():
            default = self.defaults.get(name, dataclasses.MISSING)
            how = {"default_factory": default} if isinstance(default, type) else {"default": default}
            made[name] = dataclasses.field() if name in self.names else dataclasses.field(**how)
            made[name].name, made[name].type, made[name]._field_type = name, kind, dataclasses._FIELD
        return made


class HookEvent(dict):
    """The event: a dict of its JSON, whose fields are attributes too. Optional fields that are absent are None there.
    It is a dataclass with MassGen's fields as well.

    It is the hook's own copy, and changing it changes nothing: to rewrite an input, return it as `updated_input`."""

    __slots__ = ("_sent",)
    __match_args__ = ORDER = (
        "hook_type", "session_id", "orchestrator_id", "agent_id", "timestamp", "tool_name", "tool_input", "tool_output")
    __annotations__ = dict(zip(ORDER, ("str", "str", "str", "str | None", "datetime", "str", "dict", "str | None")))
    __dataclass_fields__ = Fields(*ORDER[:-1], tool_output=None)

    def __init__(self, *values: object, **fields: object) -> None:
        """From a dict, from values in the order of the fields, or from keyword arguments."""
        if len(values) == 1 and isinstance(values[0], dict):
            dict.__init__(self, values[0])
        elif len(values) > len(self.ORDER):
            raise TypeError(f"HookEvent takes {len(self.ORDER)} values, and got {len(values)}")
        else:
            dict.__init__(self, zip(self.ORDER, values))
        self.update(fields)
        if hasattr(time := self.get("timestamp"), "isoformat"):
            self["timestamp"] = time.isoformat()

    @classmethod
    def from_dict(cls, data: dict) -> "HookEvent":
        return cls(dict(data))

    @property
    def timestamp(self):
        """The time as a datetime; `event["timestamp"]` is the text."""
        from datetime import datetime
        if (text := self.get("timestamp")) is None:
            return None
        time, dot, rest = text.upper().replace("Z", "+00:00").partition(".")
        zone = rest.lstrip("0123456789")
        fraction = (rest[: len(rest) - len(zone)] + "000000")[:6] if dot else ""  # six digits, or python < 3.11 fails
        return datetime.fromisoformat(time + dot + fraction + zone)

    def __getattr__(self, name: str) -> object:
        field = {"tool": "tool_name", "args": "tool_input"}.get(name, name)
        if field in self or field in FIELDS:
            return self.get(field)
        kind = self.get("hook_event_name", "this")
        raise AttributeError(f"{kind} event has no field {name!r}; it has {', '.join(map(str, self))}")

    def to_dict(self) -> dict:
        return dict(self)

    def to_json(self) -> str:
        """The text exactly as it was sent: unlike serializing it again, this works for every payload."""
        return str(getattr(self, "_sent", None) or encode(self), "utf-8")


class HookResult:
    """A hook's answer: a dataclass with MassGen's fields in their order, and any other key of a reply in snake case
    (`system_message`, `additional_context`, `continue_`). With only default values it is no opinion; `explicit` marks an
    allow that is meant as a decision although it looks like the default."""

    __match_args__ = ORDER = ("allowed", "metadata", "modified_args", "decision", "reason", "updated_input", "inject",
                              "hook_errors", "executed_hooks")
    __annotations__ = dict(zip(ORDER, ("bool", "dict", "str | None", "str", "str | None", "dict | None", "dict | None",
                                       "list", "list")))
    __dataclass_fields__ = Fields(allowed=True, metadata=dict, modified_args=None, decision="allow", reason=None,
                                  updated_input=None, inject=None, hook_errors=list, executed_hooks=list)
    __hash__ = None

    def __init__(self, allowed: bool = True, metadata: dict | None = None, modified_args: str | None = None,
                 decision: str = "allow", reason: str | None = None, updated_input: object = None,
                 inject: object = None, hook_errors: list | None = None, executed_hooks: list | None = None, *,
                 explicit: bool = False, **more: object) -> None:
        if isinstance(metadata, str):  # `HookResult(False, "deny", "why")`: decision and reason in the second place
            metadata, modified_args, decision, reason = None, None, metadata, modified_args
        self.metadata = {} if metadata is None else metadata
        if reason is None and isinstance(self.metadata, dict):
            reason = self.metadata.get("reason")
            reason = reason if reason is None else str(reason)
        self.decision = "deny" if decision == "allow" and not allowed else decision
        self.allowed = False if not allowed or self.decision in ("deny", "block") else allowed
        self.reason, self.updated_input, self.inject = reason, updated_input, inject
        self.modified_args, self.explicit, self.more = modified_args, explicit, more
        self.hook_errors = [] if hook_errors is None else hook_errors
        self.executed_hooks = [] if executed_hooks is None else executed_hooks

    @classmethod
    def allow(cls, reason: str | None = None, **more: object) -> "HookResult":
        return cls(reason=reason, explicit=True, **more)

    @classmethod
    def deny(cls, reason: str | None = None, **more: object) -> "HookResult":
        return cls(allowed=False, decision="deny", reason=reason, **more)

    @classmethod
    def ask(cls, reason: str | None = None, **more: object) -> "HookResult":
        return cls(decision="ask", reason=reason, **more)

    @classmethod
    def from_dict(cls, data: dict) -> "HookResult":
        """From the result of `to_dict`, or from a hook's JSON; a decision in it counts as explicit."""
        return cls(**{"explicit": "decision" in data or "allowed" in data, **data})

    def to_dict(self) -> dict:
        return {name: getattr(self, name) for name in self.ORDER}

    def add_error(self, error: str) -> None:
        """Add an error that does not change the answer; the user is told."""
        self.hook_errors.append(error)

    def has_errors(self) -> bool:
        return bool(self.hook_errors)

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __repr__(self) -> str:
        return f"HookResult({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"


def allow(reason: str | None = None, **more: object) -> HookResult:
    """Allow explicitly: the user is not asked."""
    return HookResult.allow(reason, **more)


def deny(reason: str | None = None, **more: object) -> HookResult:
    """Deny."""
    return HookResult.deny(reason, **more)


def ask(reason: str | None = None, **more: object) -> HookResult:
    """Have the user decide."""
    return HookResult.ask(reason, **more)


def inject(content: str, strategy: str = "tool_result", **more: object) -> HookResult:
    """Append text to the tool result or, as "user_message", add a message after it."""
    return HookResult(inject={"content": content, "strategy": strategy}, **more)


class HookContext:
    """Information about the call, for a hook that takes a second argument."""

    def __init__(self, hook: str, phase: int, timeout: float) -> None:
        self.hook, self.deadline, self.stopped = hook, monotonic() + timeout, False
        # The second time a guard is asked, about the final event, is in the high byte.
        self.phase, self.pass_number = phase & 255, (phase >> 8 & 255) + 1

    @property
    def remaining(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - monotonic()

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the reply any more; there is a short time left to clean up."""
        return self.stopped or self.remaining <= 0


def takes_context(target) -> bool:
    """Whether a callable takes a context as its second argument. A parameter with a default gets one only if its name
    says so. A callable that cannot take an event is a TypeError now, rather than in every call."""
    if type(target) is type(takes_context) and not (target.__defaults__ or target.__kwdefaults__ or vars(target)):
        code = target.__code__
        if code.co_argcount in (1, 2) and not code.co_kwonlyargcount:
            return code.co_argcount == 2
    import inspect  # for anything other than a plain function of one or two parameters
    try:
        signature = inspect.signature(target)
    except ValueError:  # built in, without a signature
        return False
    taken = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    context = len(taken) > 1 and (taken[1].default is taken[1].empty or taken[1].name in ("context", "ctx"))
    signature.bind(*[None] * (1 + context))
    return context


# --- What comes back -------------------------------------------------------------------------------------------------

MASSGEN = ("allowed", "decision", "updated_input", "modified_args", "inject", "reason")


def understand(result: object) -> dict:
    """Turn what a hook returned into a reply; an empty one is no opinion. So is an object's allow that looks like a
    default and has no reason: an audit hook that returns `HookResult()` must not skip a permission prompt."""
    if result is None:
        return {}
    if isinstance(result, dict) and not isinstance(result, HookEvent):
        return result
    known = isinstance(result, HookResult)
    if not known and (isinstance(result, type) or not any(hasattr(result, name) for name in MASSGEN[:-1])):
        raise Failure("bad_output", f"returned a {type(result).__name__}; return None, a dict or a HookResult")
    reply = {name: value for name in MASSGEN if (value := getattr(result, name, None)) is not None}
    if "decision" in reply:
        reply["decision"] = getattr(reply["decision"], "value", reply["decision"])  # of an Enum
    metadata, errors = getattr(result, "metadata", None), getattr(result, "hook_errors", None)
    if "reason" not in reply and isinstance(metadata, dict) and metadata.get("reason") is not None:
        reply["reason"] = str(metadata["reason"])
    if "allowed" in reply and not reply["allowed"]:
        reply["allowed"] = False  # `0` and the like
    vague = not reply.get("reason") and not getattr(result, "explicit", False)
    if reply.get("allowed") is True and (vague or "decision" in reply):
        del reply["allowed"]
    if reply.get("decision") == "allow" and vague:
        del reply["decision"]
    for name, value in result.more.items() if known else ():
        word, *rest = name.split("_")
        reply[word + "".join(map(str.title, rest))] = value
    if errors and isinstance(errors, list) and "systemMessage" not in reply:
        reply["systemMessage"] = "; ".join(map(str, errors))[:2_000]
    return reply


def explain(exc: BaseException, own: str | None) -> tuple[str, str, list[str]]:
    """What was raised and where, in one line; the traceback, from the hook's code on; the files that it leads through.
    `own` is the hook's file: when the exception comes from elsewhere, the line there is told as well."""
    try:
        import traceback
        trace, message = exc.__traceback__, str(exc)
        while trace and trace.tb_frame.f_globals.get("__name__", "").startswith(MACHINERY):
            trace = trace.tb_next
        steps = traceback.extract_tb(trace)
        files = [step.filename for step in steps]
        places = [f"{os.path.basename(step.filename)}:{step.lineno} in {step.name}" for step in steps]
        if isinstance(exc, SyntaxError):
            message, places = f"{exc.msg} ({exc.filename}:{exc.lineno})", []
            files.append(str(exc.filename))
        elif own in files and files[-1] != own:
            places[-1] += ", called from " + places[len(files) - 1 - files[::-1].index(own)]
        line = type(exc).__name__ + (f": {message}" if message else "") + (f" ({places[-1]})" if places else "")
        return line, "".join(traceback.format_exception(type(exc), exc, trace)), files
    except BaseException:  # out of memory or stack, or an exception that cannot be shown
        return type(exc).__name__, "", []


