"""The Crosier worker: runs Python hooks for the engine, one call at a time, in a warm interpreter.

The engine starts `python -I -X utf8 -c SOURCE` as the leader of a process group, with pipes on 0, 1 and 2. A request
is six numbers of eight bytes, low byte first (its own number, bytes that follow, op, hook, phase, milliseconds left),
and those bytes:

    1  0    HELLO  0  0  0
    2  76   LOAD   7  0  0      + {"name": "no-rm", "module": "guard", "function": "check", "paths": ["/cfg"]}
    3  1024 CALL   7  1  29900  + the event

`load` also takes `cwd` (absent: that of each event), `fork` and `max_reply`. Its reply names the files that the hook is
made of, as they were; the engine looks at them before each call, and has a hook whose files changed loaded anew.

An answer is three such numbers (that of the request, bytes that follow, status) and a reply. NONE is no opinion, and
FAILED brings JSON: `kind` (import, delivery, error, bad_output, oversize, worker_lost), `detail`, `traceback` and
`deny`. The end of input ends the worker.
User code never meets the channel: its 0 is /dev/null, its 1 is the engine's stderr pipe.

Every call waits for what is done from `Channel.receive` to the write in `serve`, so nothing is done there that can be
done before or elsewhere: no JSON but the event's and the reply's, no look at a file. Every cold start waits for this
file, so what is slow to import is imported where it is first needed: most hooks need neither json nor inspect,
asyncio, traceback or signal.
"""
from __future__ import annotations

import _signal as signal  # the package makes enums first, and that takes as long as starting python
import importlib
import io
import os
import sys
from time import monotonic, sleep

try:
    from _struct import Struct
except ImportError:  # not CPython
    from struct import Struct

REQUEST, ANSWER = Struct("<6Q"), Struct("<3Q")
HELLO, LOAD, CALL = OPS = range(3)
OK, NONE, FAILED = range(3, 6)  # and no op: an echo is no answer
MAX_TRACEBACK = 30_000  # characters, the last ones
MAX_DIGITS = 20_000  # of an integer: reading one takes quadratic time, and must not end as a timeout
MAX_WATCHED = 32  # files per module that are checked for changes before each call
DEPTH, HOME = sys.getrecursionlimit(), os.getcwd()
LIMITED = hasattr(sys, "set_int_max_str_digits")
# Taken early: a hook may patch `os`.
alarm, chdir, getpid, read, stat, write = signal.alarm, os.chdir, os.getpid, os.read, os.stat, os.write
depth_limit, digit_limit = sys.getrecursionlimit, sys.get_int_max_str_digits if LIMITED else lambda: MAX_DIGITS
head_of, join, modules = REQUEST.unpack_from, "".join, sys.modules
new_event, fill = dict.__new__, dict.update


class Failure(Exception):
    """Why there is no reply: one of the engine's failure kinds, a line for people, and a traceback if there is one.

    `deny` is the reason of a reply that could not be written and yet denies. A payload can be made so large or odd that
    a reply which quotes it fails; that must not undo the deny."""

    def __init__(self, kind: str, detail: str, traceback: str = "", deny: str | None = None) -> None:
        self.kind, self.detail, self.traceback, self.deny = kind, detail[:2_000], traceback[-MAX_TRACEBACK:], deny


# --- The channel -----------------------------------------------------------------------------------------------------

class Channel:
    """The pipes from and to the engine, on descriptors of their own: no child inherits them, and they are so high that
    no file of a hook is opened under their numbers, not even after the hook has closed them."""

    def __init__(self) -> None:
        self.input, self.output, self.rest = os.dup2(0, 250, False), os.dup2(1, 251, False), b""
        self.printed = os.dup2(2, 252, False)  # what hooks print goes there, also when one has closed 1 and 2
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        os.register_at_fork(after_in_child=lambda: os.closerange(self.input, self.output + 1))

    def receive(self) -> tuple[tuple, bytes]:
        """Read exactly one request: its numbers, and its bytes. The engine writes all of it at once, so it mostly comes
        in one read."""
        data, self.rest = self.rest or self._read(), b""
        while len(data) < REQUEST.size:
            data += self._read()
        head, data = head_of(data), data[REQUEST.size :]
        if missing := head[1] - len(data):
            if head[2] not in OPS:
                raise ValueError("this is no request")
            pieces = [data]
            while missing > 0:
                pieces.append(self._read())
                missing -= len(pieces[-1])
            data = b"".join(pieces)
            if missing:
                data, self.rest = data[:missing], data[missing:]
        return head, data

    def _read(self) -> bytes:
        while True:
            try:
                data = read(self.input, 1 << 16)
            except BaseException as exc:  # sys.exit() as well
                if isinstance(exc, OSError) and exc.errno:
                    raise
                continue  # raised by a signal handler that some hook left behind; the input is untouched
            if not data:
                raise EOFError
            return data


def answer(number: int, status: int, data: bytes = b"") -> bytes:
    """What is written to answer a request."""
    return ANSWER.pack(number, len(data), status) + data


def attempt(own: int, action, head: tuple, data: bytes) -> bytes:
    """Do what may run user code and give the answer that tells how it ended. A hook may fork and return twice, also by
    ways that Python does not know of; only the process of this id comes back from here."""
    try:
        answered = action(head, data)
    except Failure as failure:
        answered = answer(head[0], FAILED, encode(vars(failure)))
    if getpid() != own:
        os._exit(0)
    if bypassed or "signal" in modules:
        alarm(0)  # one that rings later would ring in somebody else's call
    return answered


# --- JSON ------------------------------------------------------------------------------------------------------------
# The package `json` imports `re`, and that costs half as much as starting python. Its C half does the same alone.
# Integers keep their digits. Floats are doubles: 1e400 arrives as inf, and a reply with inf or nan is refused.

def refuse(value: object) -> None:
    """Stand in where python would read or write more than JSON."""
    raise ValueError(f"{type(value).__name__} is not JSON")


def integer(text: str) -> int:
    """Read an integer where python itself does not limit its digits (before 3.9.14 and 3.10.7)."""
    if len(text) > MAX_DIGITS:
        raise ValueError(f"an integer of {len(text)} digits; {MAX_DIGITS} can be read")
    return int(text)


try:
    from _json import encode_basestring, make_encoder, make_scanner
    options = {"strict": True, "parse_float": float, "parse_int": int if LIMITED else integer, "parse_constant": refuse}
    unused = dict.fromkeys(("object_hook", "object_pairs_hook", "array_hook"))
    scan = make_scanner(type("Options", (), {**options, **unused}))
    chunks = make_encoder(None, refuse, encode_basestring, None, ":", ",", False, False, False)
except (ImportError, AttributeError, TypeError):  # not CPython, or one that has moved on
    import json
    scan = json.JSONDecoder(parse_int=int if LIMITED else integer, parse_constant=refuse).scan_once
    chunks = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=refuse).iterencode


def encode(value: object) -> bytes:
    """Write JSON. A lone surrogate, which a payload can hold and UTF-8 cannot, becomes U+FFFD: a deny that quotes the
    payload must arrive."""
    text = join(chunks(value, 0))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def limit(depth: int, digits: int) -> None:
    """Set how deep python goes, and how many digits of an integer it reads."""
    sys.setrecursionlimit(depth)
    if LIMITED:
        sys.set_int_max_str_digits(digits)


def decode(data: bytes) -> object:
    """Read JSON, under the limits of the start: where a hook has raised them, a deeply nested event would overflow the
    stack and a long integer take for ever, and neither a crash nor a timeout denies as the failure `delivery` does."""
    depth, digits = depth_limit(), digit_limit()
    if depth != DEPTH or digits != MAX_DIGITS:
        limit(DEPTH, MAX_DIGITS)
        try:
            return decode(data)
        finally:
            limit(depth, digits)
    try:
        return scan(str(data, "utf-8"), 0)[0]
    except (StopIteration, SystemError):  # from the C half alone, when the package is not there to say more
        raise ValueError("not JSON") from None


def locate(value: object, path: str) -> str:
    """Find the innermost part of a reply that cannot be written."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for key, part in parts:
        try:
            encode(part)
        except (TypeError, ValueError):
            return locate(part, f"{path}.{str(key)[:40]}")
    return path


def pack(number: int, reply: dict, limit: int) -> bytes:
    """Answer a request with a reply, if it can be written."""
    try:
        packed = encode(reply)
        if len(packed) <= limit:
            return answer(number, OK, packed)
        kind, detail = "oversize", f"the reply has {len(packed)} bytes; {limit} are accepted"
    except RecursionError:
        kind, detail = "bad_output", "the reply contains itself or is nested too deeply"
    except (TypeError, ValueError) as exc:
        kind, detail = "bad_output", f"cannot write {locate(reply, 'reply')}: {exc}"
    inner = reply.get("hookSpecificOutput")
    reply = {**inner, **reply} if isinstance(inner, dict) else reply
    words = (reply.get("decision"), reply.get("permissionDecision"))
    denies = reply.get("allowed") is False or reply.get("abort") is True or "deny" in words or "block" in words
    reason = reply.get("reason") or reply.get("permissionDecisionReason")
    raise Failure(kind, detail, deny=(reason[:2_000] if isinstance(reason, str) else "") if denies else None)


# --- The module `crosier`, for hooks to import -----------------------------------------------------------------------

FIELDS = frozenset("""
    session_id transcript_path cwd permission_mode hook_event_name hook_type agent_id orchestrator_id timestamp
    trigger source agent_type model reason prompt output tool_name tool_input tool_use_id permission_suggestions
    tool_response tool_output error is_interrupt custom_instructions stop_hook_active agent_transcript_path config
    result from to path content commit view message title notification_type teammate_name team_name task_id
    task_subject task_description outcome""".split())


class Fields:
    """The fields of a dataclass, made when somebody asks for them: `import dataclasses` takes longer than most hooks."""

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
        """Made of a dict, or of values in the order of the fields, or of their names."""
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
        """The text that was sent, to the letter: unlike writing it anew, that works for every payload."""
        return str(getattr(self, "_sent", None) or encode(self), "utf-8")


class HookResult:
    """What a hook answers: a dataclass with MassGen's fields in their order, and any other key of a reply by its name in
    snake case (`system_message`, `additional_context`, `continue_`). One with nothing but defaults is no opinion; an
    allow that looks like the default and yet is meant is `explicit`."""

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
        self.decision = "deny" if decision == "allow" and allowed is False else decision
        self.allowed = False if self.decision in ("deny", "block") else allowed
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
        """What `to_dict` or a hook's JSON says; a decision that stands in it is meant."""
        return cls(**{"explicit": "decision" in data or "allowed" in data, **data})

    def to_dict(self) -> dict:
        return {name: getattr(self, name) for name in self.ORDER}

    def add_error(self, error: str) -> None:
        """Note something that went wrong and does not change the answer; the user is told."""
        self.hook_errors.append(error)

    def has_errors(self) -> bool:
        return bool(self.hook_errors)

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __repr__(self) -> str:
        return f"HookResult({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"


def allow(reason: str | None = None, **more: object) -> HookResult:
    """Allow outright: the user is not asked."""
    return HookResult.allow(reason, **more)


def deny(reason: str | None = None, **more: object) -> HookResult:
    """Refuse."""
    return HookResult.deny(reason, **more)


def ask(reason: str | None = None, **more: object) -> HookResult:
    """Have the user decide."""
    return HookResult.ask(reason, **more)


def inject(content: str, strategy: str = "tool_result", **more: object) -> HookResult:
    """Append text to the tool result or, as "user_message", add a message after it."""
    return HookResult(inject={"content": content, "strategy": strategy}, **more)


class HookContext:
    """What a hook that takes a second argument learns about its call."""

    def __init__(self, hook: str, phase: int, timeout: float) -> None:
        self.hook, self.deadline, self.stopped = hook, monotonic() + timeout, False
        # The second time a guard is asked, about the final event, is in the high byte.
        self.phase, self.pass_number = phase & 255, (phase >> 8) + 1

    @property
    def remaining(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - monotonic()

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the reply any more; there is a moment left to clean up."""
        return self.stopped or self.remaining <= 0


# --- What comes back -------------------------------------------------------------------------------------------------

MASSGEN = ("allowed", "decision", "updated_input", "modified_args", "inject", "reason")


def understand(result: object) -> dict:
    """Turn what a hook returned into a reply; an empty one is no opinion. So is an object's allow that looks like a
    default and has no reason: an audit hook that returns `HookResult()` must not skip a permission prompt."""
    if hasattr(type(result), "__await__"):
        result = wait(result)
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
        reply["reason"] = metadata["reason"]
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


# --- Modules ---------------------------------------------------------------------------------------------------------

def stamp(path: str) -> tuple[int, int, int] | None:
    """What changes when a file does; None when there is none."""
    try:
        found = stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


class SourceLoader(importlib._bootstrap_external.SourceFileLoader):
    """Compiles a module from its source. A `__pycache__` is never believed: whoever can write there could exchange the
    code of a guard while its source looks unchanged."""

    def get_code(self, fullname: str) -> object:
        return self.source_to_code(self.get_data(self.path), self.path)


class SourceFinder(importlib._bootstrap_external.FileFinder):
    """Finds modules in the folders of hooks: sources and compiled extensions, and no `.pyc` without its source."""

    def __init__(self, path: str) -> None:
        external = importlib._bootstrap_external
        extensions = importlib._bootstrap_external._imp.extension_suffixes()
        super().__init__(path, (external.ExtensionFileLoader, extensions), (SourceLoader, [".py"]))

    def find_spec(self, fullname: str, target: object = None) -> object:
        stem = f"{self.path}/{fullname.rpartition('.')[2]}"
        if stamp(f"{stem}.py") and stamp(f"{stem}/__init__.py"):
            raise ImportError(f"both {stem}.py and {stem}/__init__.py exist; remove or rename one, or it is not clear "
                              "which of them is the guard", name=fullname, path=stem)
        return super().find_spec(fullname, target)


def source_finder(path: str) -> SourceFinder:
    """The finder of a folder that is a hook's, or within one. What the interpreter has on its own path, such as a virtual
    environment in the project, is not."""
    def depth(folders) -> int:
        return max((len(folder) for folder in folders if path == folder or path.startswith(f"{folder}/")), default=-1)
    own = depth(HOOK_FOLDERS)
    if own < 0 or own < depth(PYTHON_FOLDERS):
        raise ImportError("no folder of hooks")
    return SourceFinder(path)


class Source:
    """A module with hooks in it: found, imported, and imported again when it has changed.

    Each searched folder becomes a private package, so that the module is the file beside the config and yet never
    stands in for another of its name. Its neighbours are imported from the end of sys.path, so that they cannot shadow
    the standard library. Watched are the module, its package and its neighbours (MAX_WATCHED files in all); when one
    changes, all are imported afresh. A failed import is remembered until a file that it met or missed changes."""

    packages: dict[str, str] = {}

    def __init__(self, module: str, paths: tuple[str, ...]) -> None:
        self.dotted, self.paths = module, paths
        self._load()

    def find(self, function: str) -> tuple:
        """The function to call, and whether it takes a context; of the module as it is on disk now. Most of its files
        are looked at by the engine already; those that a failed import has missed are not."""
        for path, known in self.stamps.items():
            if stamp(path) != known:
                for name in self._parts():
                    del sys.modules[name]
                self._load()
                break
        if not self.failure and function not in self.targets:
            try:
                self.targets[function] = resolve(self.module, function)
            except BaseException as exc:
                cause, trace, _ = explain(exc, self.file)
                where = f"{function!r} of module {self.dotted!r} ({self.file})"
                self.targets[function] = Failure("import", f"{where}: {cause}", trace)
        found = self.failure or self.targets[function]
        if isinstance(found, Failure):
            raise found.with_traceback(None)  # or it would grow, and keep every event that it refused
        return found

    def _load(self) -> None:
        for path in [path for path in sys.path_importer_cache if path.startswith(self.paths)]:
            del sys.path_importer_cache[path]  # its list of files; importlib.invalidate_caches() is slow since 3.12
        HOOK_FOLDERS.update(self.paths)
        sys.path.extend(path for path in self.paths if path not in sys.path)
        self.module, self.failure, self.stamps, self.targets = None, None, {}, {}
        self.name = self.root = self.dotted
        stems = [(folder, f"{folder}/{self.dotted.replace('.', '/')}") for folder in self.paths]
        places = [(folder, stem + end) for folder, stem in stems for end in ("/__init__.py", ".py")]
        for folder, file in places:
            if known := stamp(file):
                package = self.packages.setdefault(folder, f"crosier_hooks_{len(self.packages) + 1}")
                sys.modules.setdefault(package, type(sys)(package)).__path__ = [folder]
                self.name, self.root = f"{package}.{self.dotted}", f"{package}.{self.dotted.partition('.')[0]}"
                self.stamps[file] = known
                break
        try:
            self.module = importlib.import_module(self.name)
        except BaseException as exc:  # sys.exit() as well
            cause, trace, files = explain(exc, None)
            searched = ", ".join([*self.paths, f"the path of {sys.executable}"])
            self.failure = Failure("import", f"module {self.dotted!r}: {cause}; searched: {searched}", trace)
            for path in [*files, *sys.path, *(file for _, file in places)]:
                self.stamps.setdefault(path, stamp(path))
        self.file = getattr(self.module, "__file__", None)
        for file in list(self._parts().values())[:MAX_WATCHED]:
            self.stamps.setdefault(file, stamp(file))

    def _parts(self) -> dict[str, str]:
        """The imported modules that this one is made of: itself, its package, its neighbours; with their files."""
        parts = {}
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__dict__", {}).get("__file__")  # no attribute of it: some modules load on demand
            near = tuple(f"{path}/{name.replace('.', '/')}" for path in self.paths)
            if isinstance(file, str) and (f"{name}.".startswith(f"{self.root}.") or file.startswith(near)):
                parts[name] = file
        return parts


def resolve(module: object, function: str) -> tuple:
    """Make a callable of what the config names, and see whether it wants a second argument. A parameter with a default
    gets the context only if it is named for it."""
    if (target := getattr(module, function, None)) is None:
        names = [name for name, item in vars(module).items() if callable(item) and name[0] != "_"]
        raise AttributeError(f"there is no such function; the module has {', '.join(names) or 'none'}")
    if isinstance(target, type) and any("__call__" in vars(base) for base in target.__mro__):
        target = target()
    if isinstance(target, type) or not callable(target):
        raise TypeError("neither a function nor a class with __call__")
    code = getattr(target, "__code__", None) or getattr(type(target).__call__, "__code__", None)
    if code and code.co_flags & 0x80:  # a coroutine: fetch what it needs before the first call
        import asyncio  # noqa: F401
    if type(target) is type(resolve) and not (target.__defaults__ or target.__kwdefaults__ or vars(target)):
        if code.co_argcount in (1, 2) and not code.co_kwonlyargcount:
            return target, code.co_argcount == 2
    import inspect  # for all that is no plain function of one or two parameters
    try:
        signature = inspect.signature(target)
    except ValueError:  # built in, and does not tell
        return target, False
    taken = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    context = len(taken) > 1 and (taken[1].default is taken[1].empty or taken[1].name in ("context", "ctx"))
    signature.bind(*[None] * (1 + context))  # better a TypeError now than in every call
    return target, context


# --- Hooks -----------------------------------------------------------------------------------------------------------

class Hook:
    """A registered hook, ready to be called: `call` answers a call of it."""

    def load(self, head: tuple, data: bytes) -> bytes:
        """Import the module, or what has changed of it, and see whether the function can be called."""
        request = decode(data)
        paths = tuple(os.path.normpath(path) for path in request.get("paths", ()) if os.path.isabs(path))
        key, self.name, self.cwd = (request["module"], paths), request.get("name", ""), request.get("cwd")
        self.fork, self.limit = request.get("fork", False), request.get("max_reply", 1 << 20)
        self.source = SOURCES.get(key) or SOURCES.setdefault(key, Source(*key))
        try:
            self.target, context = self.source.find(request["function"])
        except Failure as failure:
            self.failure, self.call = failure, self._refuse
            raise
        self.call = self._answer_with_context if context else self._answer_apart if self.fork else self._answer
        if self.cwd == os.path.dirname(self.source.file or ""):
            self.cwd = hold(self.cwd)
        facts = {"file": self.source.file, "context": context, "watched": self.source.stamps}
        return answer(head[0], OK, encode(facts))

    def _refuse(self, head: tuple, data: bytes) -> bytes:
        raise self.failure.with_traceback(None)  # or it would grow, and keep every event that it refused

    def _answer_with_context(self, head: tuple, data: bytes) -> bytes:
        """A hook that takes a context gets SIGTERM as `cancelled`, and the grace to clean up in; all others die of it
        at once. One that gave up because its time was over has not answered: it is late."""
        context = HookContext(self.name, head[4], head[5] / 1000)
        signal.signal(signal.SIGTERM, lambda *_: setattr(context, "stopped", True))
        try:
            answered = (self._answer_apart if self.fork else self._answer)(head, data, context)
            if context.cancelled and answered == answer(head[0], NONE):
                while not context.stopped and context.remaining > -5:  # the engine may be a moment behind
                    sleep(0.01)
                context.stopped = True
            return answered
        finally:
            if context.stopped:
                os._exit(128 + signal.SIGTERM)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _answer(self, head: tuple, data: bytes, context: HookContext | None = None) -> bytes:
        try:
            fields = decode(data)
            if type(fields) is not dict:
                raise TypeError(f"a {type(fields).__name__} is no object")
            event = new_event(HookEvent)
            fill(event, fields)
            event._sent = data
            if self.cwd != here:
                enter(self.cwd or event.get("cwd") or HOME)
        except (ValueError, TypeError, RecursionError, MemoryError, OSError) as exc:
            raise Failure("delivery", f"cannot hand over the event: {type(exc).__name__}: {exc}") from None
        sys.stdout, sys.stderr = STREAMS
        try:
            reply = self.target(event) if context is None else self.target(event, context)
            if type(reply) is not dict:
                reply = understand(reply)
            return pack(head[0], reply, self.limit) if reply else answer(head[0], NONE)
        except BaseException as exc:
            raise exc if isinstance(exc, Failure) else Failure("error", *explain(exc, self.source.file)[:2]) from None

    def _answer_apart(self, head: tuple, data: bytes, context: HookContext | None = None) -> bytes:
        """Answer from a fork. It leaves its answer in shared memory, which unlike a pipe cannot fill up, be held open
        by a grandchild, or take more than its size; so it is enough to wait for the child."""
        import mmap
        shared = mmap.mmap(-1, self.limit + 8 * MAX_TRACEBACK)
        try:
            child = os.fork()
        except OSError as exc:
            raise Failure("delivery", f"cannot fork: {exc}") from None
        if not child:
            try:
                answered = attempt(getpid(), lambda *call: self._answer(*call, context), head, data)
                shared[8 : 8 + len(answered)] = answered
                shared[:8] = len(answered).to_bytes(8, "big")
            finally:
                os._exit(0)
        try:
            status = os.waitpid(child, 0)[1]
        except ChildProcessError:  # a hook ignores SIGCHLD, or waits for every child there is
            status = 0
        if size := int.from_bytes(shared[:8], "big"):
            return shared[8 : 8 + size]
        end = f"signal {status & 127}" if status & 127 else f"exit status {status >> 8}"
        raise Failure("worker_lost", f"the forked call ended without an answer: {end}")


def hold(folder: str) -> str | int:
    """Open the folder that a hook and its module are in: to go there by descriptor takes half the time. The path still
    leads to it as long as it leads to the module, and when it does not, the hook is loaded anew. Its number is as high
    as those of the channel; where there are no such numbers left, it stays a path."""
    global here
    here = 0  # the number may stand for another folder from now on
    try:
        opened = os.open(folder, os.O_RDONLY)
        try:
            return os.dup2(opened, FOLDERS.setdefault(folder, CHANNEL.printed + 1 + len(FOLDERS)), False)
        finally:
            os.close(opened)
    except OSError:
        return folder


def enter(folder: str | int) -> None:
    """Go to a folder. Where the worker is stays known for a folder that is held, until somebody goes elsewhere."""
    global here
    chdir(folder)
    if type(folder) is int and not bypassed:
        here = folder


def overhear(event: str, _: tuple) -> None:
    """Python tells of what is done in it, and so of a hook that changes the folder. A hook that can call C functions
    directly can do so unheard."""
    global here, bypassed
    if event == "os.chdir":
        here = 0
    elif event == "ctypes.dlopen":
        here, bypassed = 0, True


def wait(awaitable) -> object:
    """Await on an event loop that is kept, as making one takes longer than most hooks. Forked children make their own.
    As with `asyncio.run`, tasks left over are cancelled: nothing of one call goes on in the next."""
    import asyncio
    loop = LOOPS.get(getpid())
    if loop is None or loop.is_closed():
        loop = LOOPS[getpid()] = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(awaitable)
    finally:
        if left := asyncio.all_tasks(loop):
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))


# --- The worker ------------------------------------------------------------------------------------------------------

def serve() -> None:
    """Answer requests, one after the other, until there are no more."""
    hooks: dict[int, Hook] = {}
    own, receive, output = getpid(), CHANNEL.receive, CHANNEL.output
    while True:
        head, data = receive()
        op = head[2]
        if op == CALL:
            answered = attempt(own, hooks[head[3]].call, head, data)
        elif op == LOAD:
            hook = hooks[head[3]] = Hook()
            answered = attempt(own, hook.load, head, data)
        else:
            version = ".".join(map(str, sys.version_info[:3]))
            facts = {"protocol": 3, "python": version, "executable": sys.executable, "pid": own}
            facts["environ"] = dict(os.environ)  # as a shim or a wrapper left it
            answered = answer(head[0], OK, encode(facts))
        while (done := write(output, answered)) < len(answered):
            answered = answered[done:]


MACHINERY = (__name__, "importlib", "asyncio")  # modules whose frames are not the hook's
CHANNEL, SOURCES, FOLDERS, LOOPS = Channel(), {}, {}, {}
HOOK_FOLDERS, PYTHON_FOLDERS = set(), tuple(os.path.normpath(path) for path in sys.path if path)
sys.path_hooks.insert(0, source_finder)
here, bypassed = 0, False  # the held folder that it is in, if that is known; whether a hook can do things unheard
sys.addaudithook(overhear)
TEXT = {"encoding": "utf-8", "errors": "backslashreplace", "write_through": True}  # no character fails, none waits
STREAMS = [io.TextIOWrapper(io.FileIO(CHANNEL.printed, "w", closefd=False), **TEXT) for _ in range(2)]
for stream in STREAMS:
    stream.close = stream.flush  # the next hook needs it too
sys.stdout, sys.stderr = STREAMS
sys.dont_write_bytecode = True  # a cache would be believed when a file changes twice in a second
limit(DEPTH, MAX_DIGITS)
sys.modules["crosier"] = type(sys)("crosier", "What a Python hook of Crosier needs.")
for item in (HookEvent, HookResult, HookContext, allow, deny, ask, inject):
    item.__module__ = "crosier"
    setattr(sys.modules["crosier"], item.__name__, item)


def flush_all() -> None:
    """Write out what every open file still holds."""
    import gc
    for item in gc.get_objects():
        if isinstance(item, io.IOBase):
            try:
                item.flush()
            except BaseException:
                continue  # closed, read only, or broken: the others still count


def end() -> None:
    """End as programs do, `atexit` included; but what a hook left behind must not keep anybody waiting: its threads are
    not waited for, and a second is all there is. The engine kills a worker that takes longer than it waits."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(1)
    atexit, threading = modules.get("atexit"), modules.get("threading")
    if atexit or threading:
        flush_all()  # before anything can hang
    if threading and any(not thread.daemon for thread in threading.enumerate()[1:]):
        try:
            atexit._run_exitfuncs()
        finally:
            os._exit(0)


try:
    serve()
except EOFError:  # the engine is done
    end()
except OSError as exc:
    try:
        write(2, f"crosier worker: the channel is gone: {exc}\n".encode())
    finally:
        os._exit(1)
