"""The Crosier worker: runs Python hooks for the engine, one call at a time, in a warm interpreter.

The engine starts `python -I -X utf8 -c SOURCE` as the leader of a process group, with pipes on 0, 1 and 2. A request
is a header of six little-endian 64-bit numbers (request id, length of the body, op, hook, phase, milliseconds left),
followed by the body. `phase` packs three numbers: the low byte is 1 or 2, the next byte says whether a guard is asked
again, and the rest is the number of large values in the event. Their positions (two numbers each) precede the event:

    1  0    HELLO  0  0  0
    2  76   LOAD   7  0  0      + {"name": "no-rm", "module": "guard", "function": "check", "paths": ["/cfg"]}
    3  1024 CALL   7  1  29900  + the event
    0  17   ENVIRONMENT 0 0 0   + {"LANG": "de_DE"}, not answered: the variables for the calls after it

`load` also takes `cwd` (absent: that of each event), `fork`, `max_reply` and, with the first hook, `record` (see the
class `Record`). Its reply lists the files that the hook was loaded from, with their stamps; the engine checks them before
each call, and reloads a hook whose files changed.

An answer is a header of three such numbers (request id, length of the body, status), followed by the body. NONE is no
opinion. The body of FAILED is JSON: `kind` (import, delivery, error, bad_output, oversize, worker_lost), `detail`,
`traceback` and `deny`. To the status is added IMPORTED when a module of a hook's folder was imported meanwhile (the engine
loads every hook again before its next call, to learn which files to watch), and SPOILED when the worker must not be used
again. The worker exits at the end of its input.
User code has no access to the channel: its stdin is /dev/null, its stdout is the engine's stderr pipe.

The code from `Channel.receive` to the write in `serve` delays every call, so it does only what it must: no JSON except
the event and the reply, no file access. Loading this file delays every cold start, so slow modules are imported where
they are first needed: most hooks need neither json nor inspect, asyncio, traceback or signal.

The engine puts `hook_module.py` in front of this text: what hooks import, and how their answers are read.
"""
import _signal as signal  # `signal` builds enums when it is imported, which takes as long as starting python
import importlib
import io
import os
import sys
from time import sleep

try:
    from _struct import Struct
except ImportError:  # not CPython
    from struct import Struct

REQUEST, ANSWER = Struct("<6Q"), Struct("<3Q")
HELLO, LOAD, CALL, ENVIRONMENT = OPS = 0, 1, 2, 6
OK, NONE, FAILED = range(3, 6)  # different from the ops, so that an echoed request is not an answer
IMPORTED, SPOILED = 8, 16
MAX_WATCHED = 32  # files per module that are checked for changes before each call
DEPTH, HOME = sys.getrecursionlimit(), os.getcwd()
# Taken early: a hook may patch `os`.
alarm, chdir, getpid, read, stat, write = signal.alarm, os.chdir, os.getpid, os.read, os.stat, os.write
dup2, fstat = os.dup2, os.fstat
depth_limit, digit_limit = sys.getrecursionlimit, sys.get_int_max_str_digits if LIMITED else lambda: MAX_DIGITS
head_of, modules = REQUEST.unpack_from, sys.modules
new_event, fill = dict.__new__, dict.update


# --- The channel -----------------------------------------------------------------------------------------------------

class Channel:
    """The pipes from and to the engine, on separate descriptors that no child inherits. Their numbers are so high that no
    file of a hook gets them, not even after the hook has closed them."""

    def __init__(self) -> None:
        self.input, self.output, self.rest = os.dup2(0, 250, False), os.dup2(1, 251, False), b""
        self.printed = os.dup2(2, 252, False)  # hooks' output goes there, even after a hook has closed 1 and 2
        self._put_null()
        dup2(2, 1)
        os.register_at_fork(after_in_child=lambda: os.closerange(self.input, self.output + 1))

    @staticmethod
    def _put_null() -> None:
        if null := os.open(os.devnull, os.O_RDONLY):  # it is 0 already if that was free
            dup2(null, 0)
            os.close(null)

    def restore(self) -> None:
        """Put back the standard descriptors that a hook has closed: the next one may close them too."""
        try:
            for number in (0, 1, 2):
                fstat(number)
        except OSError:
            if number == 0:
                self._put_null()
            else:
                dup2(self.printed, number)
            self.restore()

    def receive(self) -> tuple[tuple, bytes]:
        """Read exactly one request: its header and its body. The engine writes it at once, so one read is usually
        enough."""
        data, self.rest = self.rest or self._read(), b""
        while len(data) < REQUEST.size:
            data += self._read()
        head, data = head_of(data), data[REQUEST.size :]
        if missing := head[1] - len(data):
            if head[2] not in OPS:
                raise ValueError("this is not a request")
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
    """The bytes of an answer to a request."""
    return ANSWER.pack(number, len(data), status) + data


def attempt(own: int, action, head: tuple, data: bytes) -> bytes:
    """Run an action that may run user code, and return the answer. A hook may fork and return twice, even in ways that
    Python does not notice; only the process with this id returns from here."""
    try:
        answered = action(head, data)
    except Failure as failure:
        answered = answer(head[0], FAILED, encode(vars(failure)))
    if getpid() != own:
        os._exit(0)
    if bypassed or "signal" in modules:
        alarm(0)  # a pending alarm would go off during a later call
    return answered


# --- JSON, within limits ---------------------------------------------------------------------------------------------

def limit(depth: int, digits: int) -> None:
    """Set the recursion limit, and the maximum number of digits of an integer."""
    sys.setrecursionlimit(depth)
    if LIMITED:
        sys.set_int_max_str_digits(digits)


def decode(data: bytes, scan=scan) -> object:
    """Parse JSON under the original limits. If a hook has raised them, a deeply nested event could overflow the stack and
    a long integer could take forever, and neither a crash nor a timeout denies as the failure `delivery` does."""
    depth, digits = depth_limit(), digit_limit()
    if depth != DEPTH or digits != MAX_DIGITS:
        limit(DEPTH, MAX_DIGITS)
        try:
            return decode(data, scan)
        finally:
            limit(depth, digits)
    try:
        return scan(str(data, "utf-8"), 0)[0]
    except (StopIteration, SystemError):  # raised by the C scanner, which has no better error without the package `json`
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


# --- Modules ---------------------------------------------------------------------------------------------------------

def stamp(path: str) -> tuple[int, int, int, int] | None:
    """The stamp of a file, which changes when the file does; None when there is no file. The modification time alone can be
    set back, for example by `cp -p` or `tar`."""
    try:
        found = stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def is_file(path: str) -> bool:
    """Whether something other than a folder exists at this path."""
    try:
        return stat(path).st_mode & 0o170_000 != 0o040_000
    except OSError:
        return False


external = importlib._bootstrap_external


class SourceLoader(external.SourceFileLoader):
    """Compiles a module from its source. A `__pycache__` is never used: whoever can write there could replace the
    code of a guard while its source looks unchanged."""

    def get_code(self, fullname: str) -> object:
        return self.source_to_code(self.get_data(self.path), self.path)

    def exec_module(self, module: object) -> None:
        global noted
        STAMPS[self.path] = stamp(self.path)  # before it is read, so that no change goes unnoticed
        noted |= IMPORTED
        super().exec_module(module)


def is_below(path: str, folders) -> bool:
    """Whether a path is one of these folders or below one."""
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


class Unrecorded(ImportError):
    """A file that is not as a person trusted it was about to be loaded, or one of two that could be meant. Also inside a
    function, this is a failure `import`, which denies."""


class Record:
    """What a person trusted of a project: below its `folders` only the recorded `files` are loaded, each from source text
    with the recorded digest; `units` are folders within, such as a virtual environment, that are trusted as a whole.

    A path is checked as written and with links resolved, so a symlink into or out of the project does not get around the
    record. The rules are enforced in three places, because a hook may change `sys.path`, use the finders and loaders of
    importlib itself, or call what they call:

    - `RecordedFinder` serves every folder below the project's, whoever adds it to a path;
    - the loaders of importlib, which others inherit from, read recorded source text or fail;
    - an audit hook is called before python loads a library, or executes code of a file that was loaded in another way.

    Code that a recorded file generates itself (`exec(text)`) counts as part of that file."""

    def __init__(self, facts: dict) -> None:
        try:
            from _sha2 import sha256
        except ImportError:
            try:
                from _sha256 import sha256  # before 3.12
            except ImportError:  # not CPython
                from hashlib import sha256
        self.sha256, self.files, self.codes = sha256, facts["files"], {}
        self.folders, self.units = self._spellings(facts["folders"]), self._spellings(facts["units"])
        for path in [path for path in sys.path_importer_cache if self.covers(path)]:
            del sys.path_importer_cache[path]
        sys.path_hooks.insert(0, self._finder)
        for loader in (external.SourceLoader, external.SourcelessFileLoader, SourceLoader):
            loader.get_code = self._checked(loader.get_code)
        import zipimport  # loaded by python itself
        zipimport.zipimporter.__init__ = self._unless_covered(zipimport.zipimporter.__init__)
        sys.addaudithook(self._overhear)

    @staticmethod
    def _spellings(folders: list) -> tuple:
        return tuple({*map(os.path.normpath, folders), *map(os.path.realpath, folders)})

    def covers(self, path: str) -> bool:
        """Whether this path must be in the record."""
        places = os.path.abspath(path), os.path.realpath(path)
        return any(is_below(place, self.folders) and not is_below(place, self.units) for place in places)

    def digest(self, path: str) -> str | None:
        """The recorded digest of a file, by its path as written or with the links of its folder resolved."""
        path = os.path.normpath(path)
        folder, name = os.path.split(path)
        return self.files.get(path) or self.files.get(os.path.join(os.path.realpath(folder), name))

    def code(self, path: str) -> object:
        """Compile the recorded source in this file."""
        if (recorded := self.digest(path)) is None:
            raise self.refuse(path, "is not in the record of trusted files")
        with io.FileIO(path) as file:
            text = file.readall()
        if self.sha256(text).hexdigest() != recorded:
            raise self.refuse(path, "changed since it was trusted")
        code = compile(text, path, "exec", dont_inherit=True)
        self.codes[id(code)] = code  # kept alive, so that no other object gets its id
        return code

    @staticmethod
    def refuse(path: str, why: str) -> ImportError:
        return Unrecorded(f"{path} {why}; see `crosier trust`", path=path)

    def _checked(self, get_code):
        """Replaces the method of a loader for files that must be in the record."""
        def checked(loader: object, fullname: str) -> object:
            path = loader.get_filename(fullname)
            return self.code(path) if self.covers(path) else get_code(loader, fullname)
        return checked

    def _unless_covered(self, init):
        """Replaces the constructor of an importer: it refuses paths that must be in the record."""
        def checked(importer: object, path: str, *more: object) -> None:
            if self.covers(path):
                raise self.refuse(os.fsdecode(path), "is no folder, and only recorded sources are loaded here")
            init(importer, path, *more)
        return checked

    def _finder(self, path: str) -> "RecordedFinder":
        if not self.covers(path) or is_file(path):
            raise ImportError("no folder of the project")
        return RecordedFinder(path, self)

    def _overhear(self, event: str, values: tuple) -> None:
        if event == "exec":
            path, why = values[0].co_filename, "was not loaded from a recorded source"
            if id(values[0]) in self.codes or path[:1] != "/" and not stamp(path):  # made up, such as <string>
                return
        elif event == "import" or event == "ctypes.dlopen":
            path = values[event == "import"]  # the file of a compiled extension, or of a library
            if not isinstance(path, (str, bytes)) or not stamp(path := os.fsdecode(path)):
                return  # not a file, or a name that the system looks up in its own folders
            why = "is compiled code, and only recorded sources are loaded here"
        else:
            return
        if self.covers(path):
            raise self.refuse(path, why)


class RecordedFinder:
    """Finds modules in a folder of a project that has a record."""

    def __init__(self, path: str, record: Record) -> None:
        self.path, self.record = path, record

    def find_spec(self, fullname: str, target: object = None) -> object:
        stem = f"{self.path}/{fullname.rpartition('.')[2]}"
        source, package = f"{stem}.py", f"{stem}/__init__.py"
        found = [path for path in (source, package) if stamp(path)]
        if len(found) > 1:
            raise twins(stem, fullname)
        for path in found:
            if self.record.digest(path) is None:
                raise self.record.refuse(path, "is not in the record of trusted files")
            within = [stem] if path == package else None
            return external.spec_from_file_location(
                fullname, path, loader=SourceLoader(fullname, path), submodule_search_locations=within)
        if any(file.startswith(f"{stem}/") for file in self.record.files) and self._is_folder_only(stem):
            spec = importlib._bootstrap.ModuleSpec(fullname, None, is_package=True)  # a package without __init__.py
            spec.submodule_search_locations = [stem]
            return spec
        others = [".pyc", *external._imp.extension_suffixes(), ""]
        for path in (stem + end for end in others if stamp(stem + end)):
            raise self.record.refuse(path, "is no python source, and only recorded sources are loaded here")
        return None

    @staticmethod
    def _is_folder_only(stem: str) -> bool:
        others = (end for end in (".pyc", *external._imp.extension_suffixes()))
        return stamp(stem) is not None and not is_file(stem) and not any(stamp(stem + end) for end in others)

    def invalidate_caches(self) -> None:
        pass


def twins(stem: str, fullname: str) -> Unrecorded:
    return Unrecorded(f"both {stem}.py and {stem}/__init__.py exist; remove or rename one, or it is not clear "
                      "which of them is the guard", name=fullname, path=stem)


class SourceFinder(external.FileFinder):
    """Finds modules in the folders of hooks: sources and compiled extensions, and no `.pyc` without its source."""

    def __init__(self, path: str) -> None:
        extensions = external._imp.extension_suffixes()
        super().__init__(path, (external.ExtensionFileLoader, extensions), (SourceLoader, [".py"]))

    def find_spec(self, fullname: str, target: object = None) -> object:
        stem = f"{self.path}/{fullname.rpartition('.')[2]}"
        if stamp(f"{stem}.py") and stamp(f"{stem}/__init__.py"):
            raise twins(stem, fullname)
        return super().find_spec(fullname, target)


def source_finder(path: str) -> SourceFinder:
    """The finder for a hook's folder, or a folder below it. Folders on the interpreter's own path, such as a virtual
    environment in the project, do not count."""
    def depth(folders) -> int:
        return max((len(folder) for folder in folders if path == folder or path.startswith(f"{folder}/")), default=-1)
    own = depth(HOOK_FOLDERS)
    if own < 0 or own < depth(PYTHON_FOLDERS) or is_file(path):
        raise ImportError("no folder of hooks")
    return SourceFinder(path)


class Source:
    """A module with hooks in it: found, imported, and imported again when it has changed.

    Each searched folder becomes a private package, so that the file beside the configuration is used without shadowing
    another module of the same name. Its neighbours are imported from the end of sys.path, so that they cannot shadow the
    standard library. The module, its package and its neighbours are watched (MAX_WATCHED files in all), and the places in
    earlier folders where they would be found first; when one of them changes, all are imported again. A failed import is
    remembered until a file that it read or looked for changes."""

    packages: dict[str, str] = {}

    def __init__(self, module: str, paths: tuple[str, ...]) -> None:
        self.dotted, self.paths = module, paths
        self._load()

    def find(self, function: str) -> tuple:
        """The function to call, and whether it takes a context, from the module as it is on disk now. The engine already
        checks most of its files, but not those that a failed import looked for."""
        self._watch()
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
                self.stamps = {missing: None for where, missing in places[: places.index((folder, file))] if where != folder}
                package = self.packages.setdefault(folder, f"crosier_hooks_{len(self.packages) + 1}")
                sys.modules.setdefault(package, type(sys)(package)).__path__ = [folder]
                self.name, self.root = f"{package}.{self.dotted}", f"{package}.{self.dotted.partition('.')[0]}"
                self.stamps[file] = known
                break
        else:
            self.stamps = dict.fromkeys(file for _, file in places)
        try:
            self.module = importlib.import_module(self.name)
        except BaseException as exc:  # sys.exit() as well
            cause, trace, files = explain(exc, None)
            searched = ", ".join([*self.paths, f"the path of {sys.executable}"])
            self.failure = Failure("import", f"module {self.dotted!r}: {cause}; searched: {searched}", trace)
            for path in [*files, *sys.path, *(file for _, file in places)]:
                self.stamps.setdefault(path, stamp(path))
        self.file = getattr(self.module, "__file__", None)
        self._watch()

    def _watch(self) -> None:
        """Watch what was imported, in the module's first lines or later in a function of it."""
        for name, file in list(self._parts().items())[:MAX_WATCHED]:
            if file in self.stamps:
                continue
            self.stamps[file] = STAMPS[file] if file in STAMPS else stamp(file)
            stems = [f"{folder}/{name.replace('.', '/')}" for folder in self.paths]
            found = next((at for at, stem in enumerate(stems) if file.startswith(stem)), 0)
            for stem in stems[:found]:
                for earlier in (f"{stem}/__init__.py", f"{stem}.py"):
                    self.stamps.setdefault(earlier, stamp(earlier))

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
    """Return the callable that the configuration names, and whether it takes a second argument."""
    if (target := getattr(module, function, None)) is None:
        names = [name for name, item in vars(module).items() if callable(item) and name[0] != "_"]
        raise AttributeError(f"there is no such function; the module has {', '.join(names) or 'none'}")
    if isinstance(target, type) and any("__call__" in vars(base) for base in target.__mro__):
        target = target()
    if isinstance(target, type) or not callable(target):
        raise TypeError("neither a function nor a class with __call__")
    code = getattr(target, "__code__", None) or getattr(type(target).__call__, "__code__", None)
    if code and code.co_flags & 0x80:  # a coroutine: import what it needs before the first call
        import asyncio  # noqa: F401
    return target, takes_context(target)


# --- Large events ----------------------------------------------------------------------------------------------------

class LargeEvent(HookEvent):
    """An event with large values, which are parsed on first use: most hooks do not use them.

    C code of python may access a dict without calling its methods, and would not see values that are not parsed yet. So
    every method that uses more than one value parses all of them first."""

    __slots__ = ("_later", "_broken")  # the text of values that are not read, by field; why one could not be read

    def _read(self, field: object) -> None:
        text = self._later.pop(field)
        try:
            dict.__setitem__(self, field, decode(text))
        except (ValueError, RecursionError, MemoryError) as exc:
            self._later[field] = text
            self._broken = Failure("delivery", f"cannot hand over {field!r} of the event: {type(exc).__name__}: {exc}")
            raise self._broken from None

    def __getitem__(self, field: object) -> object:
        if field in self._later:
            self._read(field)
        return dict.__getitem__(self, field)

    def get(self, field: object, default: object = None) -> object:
        return self[field] if field in self else default

    def __iter__(self):  # its own, so that python asks for the values one by one
        return dict.__iter__(self)

    def __reduce__(self) -> tuple:
        return HookEvent, (dict(self),)

    def _whole(name: str):
        method = getattr(dict, name)

        def read_first(self, *values: object, **more: object) -> object:
            for field in list(self._later):
                self._read(field)
            return method(self, *values, **more)
        return read_first

    for _name in ("__eq__", "__ne__", "__repr__", "__setitem__", "__delitem__", "__or__", "__ror__", "__ior__", "items",
                  "values", "pop", "popitem", "setdefault", "update", "clear", "copy"):
        locals()[_name] = _whole(_name)
    __hash__ = None


def take_large(data: bytes, count: int) -> tuple[object, bytes, dict]:
    """An event as it is sent with `count` large values: its other fields, its text, and the text of the large ones by
    field. Each large value is replaced by a word that is not JSON, for which python's scanner calls back."""
    start, text = 16 * count, memoryview(data)
    places = [start + int.from_bytes(text[at : at + 8], "little") for at in range(0, start, 8)]
    values = [bytes(text[begin:end]) for begin, end in zip(places[::2], places[1::2])]
    around = [bytes(text[end:begin]) for end, begin in zip([start, *places[1::2]], [*places[::2], len(data)])]
    left = iter(values)
    fields = decode(b"NaN".join(around), scanner(lambda _: next(left)))
    later = {field: value for field, value in fields.items() if type(value) is bytes}  # JSON has no bytes
    return fields, data[start:], later



# --- Hooks -----------------------------------------------------------------------------------------------------------

class Hook:
    """A registered hook, ready to be called: `call` answers a call of it."""

    def load(self, head: tuple, data: bytes) -> bytes:
        """Import the module, or its changed parts, and check that the function can be called."""
        global RECORD
        request = decode(data)
        if RECORD is None and "record" in request:
            RECORD = Record(request["record"])
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
        """For a hook that takes a context, SIGTERM sets `cancelled`, and it may use the grace period to clean up; any
        other hook is killed at once. A hook that gives up because its time is over has not answered: it is late."""
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
            large = head[4] >> 16
            fields, sent, later = take_large(data, large) if large else (decode(data), data, None)
            if type(fields) is not dict:
                raise TypeError(f"a {type(fields).__name__} is no object")
            event = new_event(LargeEvent if large else HookEvent)
            fill(event, fields)
            event._sent = sent
            if large:
                event._later, event._broken = later, None
            if self.cwd != here:
                enter(self.cwd or event.get("cwd") or HOME)
        except (ValueError, TypeError, RecursionError, MemoryError, OSError) as exc:
            raise Failure("delivery", f"cannot hand over the event: {type(exc).__name__}: {exc}") from None
        sys.stdout, sys.stderr = STREAMS
        try:
            reply = self.target(event) if context is None else self.target(event, context)
            if type(reply) is not dict:
                reply = understand(wait(reply) if hasattr(type(reply), "__await__") else reply)
            if large and event._broken:  # also when the hook has caught it
                raise event._broken
            return pack(head[0], reply, self.limit) if reply else answer(head[0], NONE)
        except BaseException as exc:
            kind = "import" if isinstance(exc, Unrecorded) else "error"
            raise exc if isinstance(exc, Failure) else Failure(kind, *explain(exc, self.source.file)[:2]) from None

    def _answer_apart(self, head: tuple, data: bytes, context: HookContext | None = None) -> bytes:
        """Answer from a fork. It writes its answer to shared memory, which unlike a pipe cannot fill up or be held open
        by a grandchild; so it is enough to wait for the child."""
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
    """Open the folder of a hook and its module: changing to it by descriptor takes half the time. If the path leads
    elsewhere later, the module has changed too, and the hook is reloaded. The descriptor's number is as high as those of
    the channel; if no such number is left, the path is used."""
    global here
    here = 0  # the number may refer to another folder from now on
    try:
        opened = os.open(folder, os.O_RDONLY)
        try:
            return os.dup2(opened, FOLDERS.setdefault(folder, CHANNEL.printed + 1 + len(FOLDERS)), False)
        finally:
            os.close(opened)
    except OSError:
        return folder


def enter(folder: str | int) -> None:
    """Change to a folder. An open folder is remembered as the current one until something changes it."""
    global here
    chdir(folder)
    if type(folder) is int and not bypassed:
        here = folder


def overhear(event: str, _: tuple) -> None:
    """An audit hook that notices when a hook changes the folder. A hook that can call C functions directly can do so
    unnoticed."""
    global here, bypassed
    if event == "os.chdir":
        here = 0
    elif event == "ctypes.dlopen":
        here, bypassed = 0, True


def wait(awaitable) -> object:
    """Await on a reused event loop, because creating one takes longer than most hooks. Forked children create their own.
    As with `asyncio.run`, remaining tasks are cancelled, so that nothing of one call continues in the next."""
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

def adopt(variables: dict) -> None:
    """Set the environment to that of the start plus these variables: each call has those of its caller."""
    wanted = {**STARTED, **variables}
    for name in [name for name in environ if name not in wanted]:
        del environ[name]
    for name, value in wanted.items():
        if environ.get(name) != value:
            environ[name] = value


class Frozen(type(sys)):
    """The module `crosier`. All hooks of a worker share it, so none may change what it does for the others."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"crosier.{name} cannot be changed: other hooks use it too")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)


def is_spoiled() -> bool:
    """Whether a hook has removed what all others need."""
    return modules.get("crosier") is not SHARED or modules.get("sys") is not sys or sys.modules is not modules


def serve() -> None:
    """Answer requests one after another until there are no more."""
    global noted
    hooks: dict[int, Hook] = {}
    own, receive, output, restore = getpid(), CHANNEL.receive, CHANNEL.output, CHANNEL.restore
    while True:
        head, data = receive()
        op = head[2]
        if op == CALL:
            answered = attempt(own, hooks[head[3]].call, head, data)
        elif op == LOAD:
            hook = hooks[head[3]] = Hook()
            answered = attempt(own, hook.load, head, data)
        elif op == ENVIRONMENT:
            adopt(decode(data))
            continue
        else:
            version = ".".join(map(str, sys.version_info[:3]))
            facts = {"protocol": 3, "python": version, "executable": sys.executable, "pid": own}
            facts["environ"] = dict(os.environ)  # as a shim or a wrapper left it
            answered = answer(head[0], OK, encode(facts))
        if noted or is_spoiled():
            noted |= SPOILED * is_spoiled()
            number, size, status = ANSWER.unpack_from(answered)
            answered, noted = ANSWER.pack(number, size, status | noted) + answered[ANSWER.size :], 0
        while (done := write(output, answered)) < len(answered):
            answered = answered[done:]
        restore()  # while nobody waits


CHANNEL, SOURCES, FOLDERS, LOOPS = Channel(), {}, {}, {}
STAMPS, noted = {}, 0  # of the files that were imported, as they were; what the next answer says besides
environ, STARTED = os.environ, dict(os.environ)
RECORD = None  # of the project, if its files are recorded
HOOK_FOLDERS, PYTHON_FOLDERS = set(), tuple(os.path.normpath(path) for path in sys.path if path)
sys.path_hooks.insert(0, source_finder)
here, bypassed = 0, False  # the current folder, if it is open and known; whether a hook can bypass the audit hook
sys.addaudithook(overhear)
TEXT = {"encoding": "utf-8", "errors": "backslashreplace", "write_through": True}  # no errors, no buffering
STREAMS = [io.TextIOWrapper(io.FileIO(CHANNEL.printed, "w", closefd=False), **TEXT) for _ in range(2)]
for stream in STREAMS:
    stream.close = stream.flush  # the next hook needs it too
sys.stdout, sys.stderr = STREAMS
sys.dont_write_bytecode = True  # a cache would look valid when a file changes twice within a second
limit(DEPTH, MAX_DIGITS)
SHARED = sys.modules["crosier"] = Frozen("crosier", "What a Python hook of Crosier needs.")
for item in (HookEvent, HookResult, HookContext, allow, deny, ask, inject):
    item.__module__ = "crosier"
    vars(SHARED)[item.__name__] = item


def flush_all() -> None:
    """Flush all open files."""
    import gc
    for item in gc.get_objects():
        if isinstance(item, io.IOBase):
            try:
                item.flush()
            except BaseException:
                continue  # closed, read only, or broken: the others still count


def end() -> None:
    """Exit normally, with `atexit` handlers, but within a second, and without waiting for threads that hooks left
    behind. The engine kills a worker that takes longer."""
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
