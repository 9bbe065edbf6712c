"""Tests of the Python worker, one behaviour each, on a real process and through its real channel.

    python3 crates/engine/tests/python/test_worker.py

CROSIER_TEST_PYTHON names another interpreter to test (3.9 or later). Modules are written next to their test: what a
hook does and what is expected of it stand together."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import zipfile
from pathlib import Path

PYTHON = os.environ.get("CROSIER_TEST_PYTHON", sys.executable)
SOURCE = "".join((Path(__file__).parents[2] / "src/run/worker" / name).read_text() for name in ("hook_module.py", "worker.py"))
EVENT = {
    "session_id": "s1", "hook_event_name": "PreToolUse", "hook_type": "PreToolUse", "agent_id": None,
    "timestamp": "2026-11-15T20:35:00.123456789Z", "tool_name": "Bash", "tool_input": {"command": "ls"},
}  # fmt: skip


def pack(number: int, op: str, data: bytes = b"", hook: int = 0, phase: int = 0, left: int = 0) -> bytes:
    """A request."""
    return struct.pack("<6Q", number, len(data), ["hello", "load", "call"].index(op), hook, phase, left) + data


def stamp(path: str) -> list[int] | None:
    """What the engine compares."""
    if not os.path.exists(path):
        return None
    found = os.stat(path)
    return [found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino]


class Worker:
    """The engine's side of the channel."""

    def __init__(self, folder: Path, prefix: str = "") -> None:
        self.log = open(folder / "stderr.log", "w+b")
        program = ["-c", SOURCE] if not prefix else ["-c", f"{prefix}\nimport sys; exec(sys.argv.pop())", SOURCE]
        self.process = subprocess.Popen(
            [PYTHON, "-I", "-X", "utf8", *program], cwd=folder, bufsize=0, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
        )  # fmt: skip
        self.count = 0

    def send(self, *request: object) -> None:
        self.process.stdin.write(pack(*request))

    def receive(self) -> dict:
        """One answer; a reply is put under "reply"."""
        number, status, data = self.receive_raw()
        answer = json.loads(data or "null")
        return {"id": number, "status": status, **(answer if status == "failed" else {"reply": answer})}

    def receive_raw(self) -> tuple[int, str, bytes]:
        number, size, status = struct.unpack("<3Q", self._read(24))
        self.has_imported, self.is_spoiled = bool(status & 8), bool(status & 16)
        return number, {3: "ok", 4: "none", 5: "failed"}[status & 7], self._read(size)

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self.process.stdout.read(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def request(self, *request: object) -> dict:
        self.count += 1
        self.send(self.count, *request)
        answer = self.receive()
        assert answer["id"] == self.count, answer
        return answer

    def printed(self) -> str:
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def end(self) -> int:
        """Close the input and wait."""
        self.process.stdin.close()
        return self.process.wait(60)

    def destroy(self) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.log):
            pipe.close()


class Case(unittest.TestCase):
    """A folder with hooks in it, and a worker that knows them."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="crosier-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.worker = self.start()
        self.loads, self.watched = {}, {}  # by hook

    def start(self, prefix: str = "") -> Worker:
        worker = Worker(self.folder, prefix)
        self.addCleanup(worker.destroy)
        return worker

    def write(self, name: str, text: str) -> Path:
        """Write a module; every version of it gets a new modification time, also within one tick of the clock."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        Case.ticks = getattr(Case, "ticks", 0) + 1
        os.utime(path, ns=(10**18, 10**18 + Case.ticks))
        return path

    def load(self, handler: str = "guard.check", hook: int = 1, **fields: object) -> dict:
        module, _, function = handler.rpartition(".")
        fields = {"paths": [str(self.folder)], "cwd": str(self.folder), **fields}
        self.loads[hook] = json.dumps({"name": "no-rm", "module": module, "function": function, **fields}).encode()
        return self._load(hook)

    def _load(self, hook: int) -> dict:
        answer = self.worker.request("load", self.loads[hook], hook)
        if self.worker.has_imported:
            self.watched = dict.fromkeys(self.watched)
        self.watched[hook] = answer["reply"]["watched"] if answer["status"] == "ok" else None
        return answer

    def call(self, event: object = None, hook: int = 1, phase: int = 1) -> dict:
        """Call a hook as the engine does: one whose files changed, or that could not be loaded, is loaded anew."""
        data = event if isinstance(event, bytes) else json.dumps({**EVENT, **(event or {})}).encode()
        watched = self.watched[hook]
        if watched is None or any(stamp(path) != known for path, known in watched.items()):
            self._load(hook)
        answer = self.worker.request("call", data, hook, phase, 5000)
        if self.worker.has_imported:
            self.watched = dict.fromkeys(self.watched)
        return answer

    def hook(self, text: str, handler: str = "guard.check", event: object = None, **fields: object) -> dict:
        """Write `guard.py`, load it, call it once."""
        self.write("guard.py", text)
        loaded = self.load(handler, **fields)
        return self.call(event) if loaded["status"] == "ok" else loaded

    def reply(self, text: str, *arguments: object, **fields: object) -> dict:
        answer = self.hook(text, *arguments, **fields)
        self.assertEqual(answer["status"], "ok", answer)
        return answer["reply"]

    def assertFailed(self, answer: dict, kind: str, *parts: str) -> None:
        self.assertEqual((answer["status"], answer.get("kind")), ("failed", kind), answer)
        for part in parts:
            self.assertIn(part, answer["detail"])


DENY = """
    def check(event):
        return {"decision": "deny", "reason": "no"}
"""
DENIED = {"decision": "deny", "reason": "no"}


class TheChannel(Case):
    def test_hello_tells_version_executable_and_pid(self):
        hello = self.worker.request("hello")["reply"]
        version = subprocess.check_output([PYTHON, "-c", "import sys; print(*sys.version_info[:3])"], text=True)
        self.assertEqual(hello["python"], ".".join(version.split()))
        self.assertEqual((hello["pid"], hello["protocol"]), (self.worker.process.pid, 3))
        self.assertTrue(os.path.isabs(hello["executable"]))

    def test_end_of_input_ends_the_worker_with_0(self):
        self.assertEqual(self.worker.end(), 0)

    def test_end_of_input_inside_a_frame_ends_the_worker_with_0(self):
        self.worker.process.stdin.write(pack(1, "load", b'{"name": "no-rm"}', 1)[:-10])
        self.assertEqual(self.worker.end(), 0)

    def test_end_of_input_flushes_the_files_of_hooks(self):
        self.hook(f"""
            log = open({str(self.folder / "audit.log")!r}, "w")
            def check(event):
                log.write("seen")
        """)
        self.worker.end()
        self.assertEqual((self.folder / "audit.log").read_text(), "seen")

    def test_end_of_input_does_not_wait_for_threads(self):
        self.hook("""
            import threading, time
            def check(event):
                threading.Thread(target=time.sleep, args=(600,)).start()
        """)
        self.worker.end()

    def test_a_request_that_comes_byte_by_byte_is_read(self):
        self.hook(DENY)
        for request in (pack(5, "hello"), pack(6, "call", json.dumps(EVENT).encode(), 1, 1, 5000)):
            for byte in request:
                self.worker.process.stdin.write(bytes([byte]))
        self.assertEqual([self.worker.receive()["id"], self.worker.receive().get("reply")], [5, DENIED])

    def test_requests_that_come_at_once_are_answered_in_order(self):
        self.hook("def check(event): return {'reason': event.args}")
        calls = [pack(n, "call", b'{"tool_input":"%b"}' % (b"x" * n), 1, 1, 5000) for n in (5, 70_000, 7)]
        self.worker.process.stdin.write(pack(4, "hello") + b"".join(calls) + pack(8, "hello"))
        self.assertEqual(self.worker.receive()["id"], 4)
        for number in (5, 70_000, 7):
            answer = self.worker.receive()
            self.assertEqual((answer["id"], answer["reply"]), (number, {"reason": "x" * number}))
        self.assertEqual(self.worker.receive()["id"], 8)

    def test_newlines_in_an_event_are_data(self):
        data = json.dumps({**EVENT, "tool_input": {"command": "a\nb"}}, indent=1).encode() + b"\n"
        self.hook("def check(event): return {'reason': event.args['command']}")
        self.assertEqual(self.call(data)["reply"], {"reason": "a\nb"})

    def test_an_event_of_10_mb_arrives(self):
        self.hook("def check(event): return {'reason': str(len(event.args['text']))}")
        self.assertEqual(self.call({"tool_input": {"text": "x" * 10_000_000}})["reply"], {"reason": "10000000"})

    def test_a_broken_frame_ends_the_worker(self):
        self.worker.process.stdin.write(b"hello\n" * 100)
        self.assertNotEqual(self.worker.process.wait(60), 0)

    def test_an_engine_that_is_gone_ends_the_worker(self):
        self.worker.process.stdout.close()
        self.worker.send(5, "hello")
        self.assertEqual(self.worker.process.wait(60), 1)

    def test_works_without_the_c_half_of_json(self):
        self.worker = self.start("import sys; sys.modules['_json'] = None")
        self.assertEqual(self.reply(DENY), DENIED)
        self.assertFailed(self.call(b'{"a": NaN}'), "delivery")
        self.assertFailed(self.hook("def check(event): return {'a': {1}}", hook=2), "bad_output", "reply.a: set")

    def test_a_cold_call_imports_nothing_slow(self):
        text = "import sys\ndef check(event): return {'reason': ' '.join(sys.modules)}"
        modules = set(self.reply(text)["reason"].split())
        bare = subprocess.check_output([PYTHON, "-I", "-c", "import sys; print(*sys.modules)"], text=True).split()
        self.assertFalse((modules - set(bare)) & {"json", "re", "inspect", "asyncio", "traceback", "signal", "typing"})


class Functions(Case):
    def test_a_function(self):
        self.assertEqual(self.reply(DENY), DENIED)

    def test_an_async_function(self):
        self.assertEqual(self.reply("""
            import asyncio
            async def check(event):
                await asyncio.sleep(0)
                return {"decision": "deny", "reason": "no"}
        """), DENIED)

    def test_a_class_is_made_once(self):
        self.hook("""
            class Check:
                calls = 0
                def __init__(self): Check.made = getattr(Check, "made", 0) + 1
                def __call__(self, event):
                    self.calls += 1
                    return {"reason": f"{Check.made} {self.calls}"}
        """, "guard.Check")
        self.assertEqual(self.call()["reply"], {"reason": "1 2"})

    def test_a_class_with_async_call(self):
        self.assertEqual(self.reply("""
            class Check:
                async def __call__(self, event):
                    return {"decision": "deny", "reason": "no"}
        """, "guard.Check"), DENIED)

    def test_an_instance_with_async_call(self):
        self.assertEqual(self.reply("""
            class Check:
                async def __call__(self, event):
                    return {"decision": "deny", "reason": "no"}
            check = Check()
        """), DENIED)

    def test_a_bound_method(self):
        self.assertEqual(self.reply("""
            class Check:
                def run(self, event): return {"decision": "deny", "reason": "no"}
            check = Check().run
        """), DENIED)

    def test_a_partial(self):
        self.assertEqual(self.reply("""
            from functools import partial
            def refuse(reason, event): return {"decision": "deny", "reason": reason}
            check = partial(refuse, "no")
        """), DENIED)

    def test_a_partial_of_an_async_function(self):
        self.assertEqual(self.reply("""
            from functools import partial
            async def refuse(event, reason): return {"decision": "deny", "reason": reason}
            check = partial(refuse, reason="no")
        """), DENIED)

    def test_a_decorated_function(self):
        self.assertEqual(self.reply("""
            import functools
            def twice(function):
                @functools.wraps(function)
                def wrapper(*args, **kwargs):
                    return function(*args, **kwargs)
                return wrapper
            @twice
            def check(event):
                return {"decision": "deny", "reason": "no"}
        """), DENIED)

    def test_any_awaitable_is_awaited(self):
        self.assertEqual(self.reply("""
            class Later:
                def __await__(self):
                    yield
                    return {"decision": "deny", "reason": "no"}
            def check(event):
                return Later()
        """), DENIED)

    def test_an_async_function_without_an_opinion(self):
        self.assertEqual(self.hook("async def check(event): pass")["status"], "none")

    def test_a_class_without_call_is_an_import_failure(self):
        self.assertFailed(self.hook("class Check: pass", "guard.Check"), "import", "'Check'", "guard.py", "__call__")

    def test_a_class_that_cannot_be_made_is_an_import_failure(self):
        answer = self.hook("""
            class Check:
                def __init__(self): raise OSError("no rules")
                def __call__(self, event): pass
        """, "guard.Check")
        self.assertFailed(answer, "import", "OSError: no rules (guard.py:3 in __init__)")

    def test_something_that_is_no_function_is_an_import_failure(self):
        self.assertFailed(self.hook("check = {}"), "import", "'check' of module 'guard'", "neither a function")

    def test_a_function_without_parameters_is_an_import_failure(self):
        self.assertFailed(self.hook("def check(): pass"), "import", "too many positional arguments")

    def test_a_function_with_three_parameters_is_an_import_failure(self):
        self.assertFailed(self.hook("def check(event, tool_use_id, context): pass"), "import", "missing")


class Context(Case):
    def test_a_second_parameter_gets_name_phase_and_time(self):
        self.hook("""
            def check(event, call):
                return {"reason": f"{call.hook} {call.phase} {4 < call.remaining <= 5} {call.cancelled}"}
        """)
        self.assertEqual(self.call(phase=2)["reply"], {"reason": "no-rm 2 True False"})

    def test_an_async_function_gets_it_too(self):
        self.assertEqual(self.reply("async def check(event, call): return {'reason': call.hook}"), {"reason": "no-rm"})

    def test_a_second_parameter_with_a_default_is_left_alone(self):
        self.assertEqual(self.reply("def check(event, word='no'): return {'reason': word}"), {"reason": "no"})

    def test_a_default_is_replaced_when_the_name_is_context(self):
        text = "def check(event, context=None): return {'reason': context.hook}"
        self.assertEqual(self.reply(text), {"reason": "no-rm"})

    def test_load_tells_whether_it_is_taken(self):
        self.write("guard.py", "def check(event, context): pass")
        reply = self.load()["reply"]
        self.assertEqual((reply["file"], reply["context"]), (str(self.folder / "guard.py"), True))

    def begin(self, text: str, timeout: float = 60, **fields: object) -> None:
        """Start a call that makes a file when it runs, and wait for the file."""
        self.write("guard.py", text)
        self.load(**fields)
        self.worker.send(9, "call", json.dumps(EVENT).encode(), 1, 1, int(timeout * 1000))
        deadline = time.monotonic() + 60
        while not (self.folder / "started").exists() and time.monotonic() < deadline:
            time.sleep(0.002)

    CLEANS_UP = """
        import time
        def check(event, context):
            open("started", "w").close()
            while not context.cancelled: time.sleep(0.001)
            open("cleaned", "w").close()
    """

    def test_sigterm_cancels_and_leaves_time_to_clean_up(self):
        self.begin(self.CLEANS_UP)
        os.killpg(self.worker.process.pid, signal.SIGTERM)
        self.assertEqual(self.worker.process.wait(60), 143)
        self.assertTrue((self.folder / "cleaned").exists())

    def test_sigterm_cancels_a_forked_call(self):
        self.begin(self.CLEANS_UP, fork=True)
        os.killpg(self.worker.process.pid, signal.SIGTERM)
        self.assertEqual(self.worker.process.wait(60), 143)
        self.assertTrue((self.folder / "cleaned").exists())

    def test_a_hook_that_gives_up_when_its_time_is_over_has_not_answered(self):
        for fork in (False, True):
            with self.subTest(fork=fork):
                self.worker = self.start()
                self.begin(self.CLEANS_UP, timeout=0.01, fork=fork)
                os.set_blocking(self.worker.process.stdout.fileno(), False)
                time.sleep(0.1)
                self.assertIsNone(self.worker.process.stdout.read(1))
                os.killpg(self.worker.process.pid, signal.SIGTERM)
                self.assertEqual(self.worker.process.wait(60), 143)

    def test_a_deny_is_told_however_late_it_is(self):
        self.begin(f"{self.CLEANS_UP.rstrip()}\n            return {DENIED}", timeout=0.01)
        self.assertEqual(self.worker.receive()["reply"], DENIED)

    def test_sigterm_ends_a_hook_without_context_at_once(self):
        self.begin("""
            import time
            def check(event):
                open("started", "w").close()
                time.sleep(60)
        """)
        os.killpg(self.worker.process.pid, signal.SIGTERM)
        self.assertEqual(self.worker.process.wait(60), -signal.SIGTERM)


class Lookup(Case):
    def where(self, handler: str = "guard.check", **fields: object) -> str:
        answer = self.load(handler, **fields)
        self.assertEqual(answer["status"], "ok", answer)
        return os.path.relpath(answer["reply"]["file"], self.folder)

    def test_the_first_folder_wins(self):
        self.write("config/guard.py", DENY)
        self.write("lib/guard.py", DENY)
        paths = [str(self.folder / "config"), str(self.folder / "lib")]
        self.assertEqual(self.where(paths=paths), "config/guard.py")

    def test_later_folders_are_searched(self):
        self.write("lib/guard.py", DENY)
        (self.folder / "config").mkdir()
        self.assertEqual(self.where(paths=[str(self.folder / "config"), str(self.folder / "lib")]), "lib/guard.py")

    def test_pythons_own_path_is_last(self):
        self.assertTrue(self.load("json.tool.main", paths=[])["detail"].startswith("'main' of module 'json.tool'"))

    def test_the_current_folder_is_never_searched(self):
        self.write("guard.py", DENY)
        self.write("config/other.py", DENY)
        self.assertFailed(self.load(paths=[str(self.folder / "config")]), "import", "No module named 'guard'")

    def test_a_relative_folder_is_not_searched(self):
        self.write("guard.py", DENY)
        self.assertFailed(self.load(paths=[".", ""]), "import", "No module named 'guard'")

    def test_a_file_named_like_a_standard_module_is_the_handler(self):
        self.write("json.py", DENY)
        self.assertEqual(self.where("json.check"), "json.py")
        self.assertEqual(self.call()["reply"], DENIED)

    def test_a_file_named_like_a_standard_module_does_not_replace_it(self):
        self.write("json.py", "def dumps(value): return 'mine'")
        self.assertEqual(self.reply("import json\ndef check(event): return {'reason': json.dumps(1)}"), {"reason": "1"})

    def test_crosier_is_the_workers_own(self):
        self.write("crosier.py", "raise OSError")
        text = "from crosier import HookEvent\ndef check(event): return {'reason': str(type(event) is HookEvent)}"
        self.assertEqual(self.reply(text), {"reason": "True"})

    def test_neighbours_can_be_imported(self):
        self.write("rules.py", "reason = 'no'")
        text = "import rules\ndef check(event): return {'reason': rules.reason}"
        self.assertEqual(self.reply(text), {"reason": "no"})

    def test_a_module_in_a_package_with_relative_imports(self):
        self.write("hooks/__init__.py", "from .rules import reason")
        self.write("hooks/rules.py", "reason = 'no'")
        self.write("hooks/guard.py", "from . import reason\ndef check(event): return {'reason': reason}")
        self.assertEqual(self.where("hooks.guard.check"), "hooks/guard.py")
        self.assertEqual(self.call()["reply"], {"reason": "no"})

    def test_a_module_in_a_folder_without_init(self):
        self.write("hooks/guard.py", DENY)
        self.assertEqual(self.where("hooks.guard.check"), "hooks/guard.py")

    def test_a_function_of_a_package(self):
        self.write("hooks/__init__.py", DENY)
        self.assertEqual(self.where("hooks.check"), "hooks/__init__.py")

    def test_modules_of_one_name_in_two_folders_are_two(self):
        for hook, folder in enumerate(("a", "b")):
            self.write(f"{folder}/guard.py", f"def check(event): return {{'reason': {folder!r}}}")
            self.load(hook=hook, paths=[str(self.folder / folder)])
        self.assertEqual([self.call(hook=hook)["reply"]["reason"] for hook in (0, 1)], ["a", "b"])

    def test_hooks_of_one_module_share_it(self):
        self.write("guard.py", """
            seen = []
            def note(event): seen.append(event.tool)
            def check(event): return {"reason": str(seen)}
        """)
        self.load("guard.note", hook=1)
        self.load("guard.check", hook=2)
        self.call(hook=1)
        self.assertEqual(self.call(hook=2)["reply"], {"reason": "['Bash']"})


class Events(Case):
    def see(self, expression: str, event: object = None) -> object:
        """The value of an expression over the event, as the hook sees it."""
        return self.reply(f"def check(event): return {{'reason': {expression}}}", event=event)["reason"]

    def test_fields_are_attributes_and_items(self):
        self.assertEqual(self.see("[event.tool_name, event['tool_name'], event.agent_id]"), ["Bash", "Bash", None])

    def test_fields_of_the_hosts_own_are_attributes_too(self):
        self.assertEqual(self.see("event.build", {"build": 7}), 7)

    def test_it_has_short_names_as_attributes_only(self):
        self.assertEqual(self.see("[event.tool, event.args, 'tool' in event]"), ["Bash", {"command": "ls"}, False])

    def test_its_timestamp_is_a_datetime_and_its_item_the_text(self):
        seen = self.see("[event.timestamp.isoformat(), event['timestamp']]")
        self.assertEqual(seen, ["2026-11-15T20:35:00.123456+00:00", EVENT["timestamp"]])

    def test_its_timestamp_may_lack_a_fraction_and_have_an_offset(self):
        text = "2026-11-15T20:35:00+02:00"
        self.assertEqual(self.see("event.timestamp.isoformat()", {"timestamp": text}), text)

    def test_an_absent_field_of_the_protocol_is_none(self):
        self.assertEqual(self.see("[event.tool_output, event.prompt, event.get('prompt', 1)]"), [None, None, 1])

    def test_an_unknown_attribute_tells_what_there_is(self):
        answer = self.hook("def check(event): return event.tol_name")
        self.assertFailed(answer, "error", "PreToolUse event has no field 'tol_name'; it has session_id", "guard.py")

    def test_it_is_a_mapping(self):
        seen = self.see("['session_id' in event, event.get('x'), list(event)[0], len(event)]")
        self.assertEqual(seen, [True, None, "session_id", len(EVENT)])

    def test_it_becomes_a_plain_dict_and_json(self):
        seen = self.see("[type(event.to_dict()).__name__, event.to_json(), __import__('json').dumps(event)]")
        self.assertEqual([seen[0], json.loads(seen[1]), json.loads(seen[2])], ["dict", EVENT, EVENT])

    def test_its_json_is_the_text_that_was_sent(self):
        self.hook("def check(event): return {'reason': event.to_json()}")
        for text in ('{"n": 1e400, "m": 1.50}', '{"s": "\\ud800"}', '{"deep":' + "[" * 900 + "]" * 900 + "}"):
            with self.subTest(text=text[:20]):
                self.assertEqual(self.call(text.encode())["reply"]["reason"], text)

    def test_one_that_a_hook_made_has_json_too(self):
        seen = self.see("__import__('crosier').HookEvent(tool_name='Bash').to_json()")
        self.assertEqual(seen, '{"tool_name":"Bash"}')

    def test_it_can_be_copied_and_pickled(self):
        self.assertEqual(self.reply("""
            import copy, pickle
            def check(event): return {"reason": pickle.loads(pickle.dumps(copy.deepcopy(event))).tool}
        """), {"reason": "Bash"})

    def test_large_integers_keep_their_digits(self):
        for digits in (40, 5_000, 20_000):
            with self.subTest(digits=digits):
                self.hook("def check(event): return {'updated_input': event.args}")
                number = b"9" * digits
                self.worker.count += 1
                self.worker.send(self.worker.count, "call", b'{"tool_input":{"n":%b}}' % number, 1, 1, 5000)
                answer = self.worker.receive_raw()
                self.assertEqual(answer, (self.worker.count, "ok", b'{"updated_input":{"n":%b}}' % number))

    def test_floats_survive(self):
        self.assertEqual(self.see("event.args", {"tool_input": [0.1, 1e300, -2.5e-7]}), [0.1, 1e300, -2.5e-7])

    def test_a_float_beyond_a_double_is_infinite(self):
        self.hook("def check(event): return {'reason': str(event.get('n'))}")
        self.assertEqual(self.call(b'{"n": 1e400}')["reply"], {"reason": "inf"})


class Replies(Case):
    def answer(self, expression: str, before: str = "") -> dict:
        return self.hook(f"from crosier import *\n{textwrap.dedent(before)}\ndef check(event): return {expression}")

    def assertReply(self, expression: str, reply: dict, before: str = "") -> None:
        answer = self.answer(expression, before)
        self.assertEqual((answer["status"], answer.get("reply")), ("ok", reply), answer)

    def assertNone(self, expression: str, before: str = "") -> None:
        self.assertEqual(self.answer(expression, before)["status"], "none")

    def test_none_is_no_opinion(self):
        self.assertNone("None")

    def test_an_empty_dict_is_no_opinion(self):
        self.assertNone("{}")

    def test_a_dict_goes_out_as_it_is(self):
        reply = {"continue": False, "hookSpecificOutput": {"permissionDecision": "ask"}, "ü": [1, 2.5, None, "ü\n"]}
        self.assertReply(repr(reply), reply)

    def test_a_dict_that_allows_is_explicit(self):
        self.assertReply("{'decision': 'allow'}", {"decision": "allow"})

    def test_a_default_hook_result_is_no_opinion(self):
        self.assertNone("HookResult()")

    def test_deny(self):
        self.assertReply("deny('no')", {"allowed": False, "decision": "deny", "reason": "no"})

    def test_ask(self):
        self.assertReply("ask('sure?')", {"decision": "ask", "reason": "sure?"})

    def test_allow_is_explicit_with_and_without_a_reason(self):
        self.assertReply("allow('fine')", {"decision": "allow", "reason": "fine"})
        self.assertReply("allow()", {"decision": "allow"})

    def test_inject(self):
        self.assertReply("inject('hi')", {"inject": {"content": "hi", "strategy": "tool_result"}})

    def test_inject_as_a_message(self):
        self.assertReply("inject('hi', 'user_message')", {"inject": {"content": "hi", "strategy": "user_message"}})

    def test_a_rewrite_does_not_allow(self):
        self.assertReply("HookResult(updated_input={'command': 'pwd'})", {"updated_input": {"command": "pwd"}})

    def test_allowed_false_denies(self):
        self.assertReply("HookResult(allowed=False)", {"allowed": False, "decision": "deny"})

    def test_other_keys_are_written_in_snake_case(self):
        self.assertReply(
            "deny('no', system_message='m', additional_context='c', continue_=False)",
            {"allowed": False, "decision": "deny", "reason": "no", "systemMessage": "m", "additionalContext": "c",
             "continue": False},
        )  # fmt: skip

    OWN = """
        from dataclasses import dataclass
        from typing import Any, Dict, Optional
        @dataclass
        class HookResult:
            allowed: bool = True
            decision: str = "allow"
            reason: Optional[str] = None
            updated_input: Optional[Dict[str, Any]] = None
            modified_args: Optional[str] = None
            inject: Optional[Dict[str, Any]] = None
            metadata: str = "not for us"
    """

    def test_massgen_deny(self):
        reply = {"allowed": False, "decision": "deny", "reason": "no"}
        self.assertReply("HookResult(allowed=False, decision='deny', reason='no')", reply, self.OWN)

    def test_massgen_rewrite_and_injection(self):
        reply = {"updated_input": {"a": 1}, "modified_args": "{}", "inject": {"content": "hi"}}
        self.assertReply(f"HookResult(**{reply})", reply, self.OWN)

    def test_massgen_default_allow_is_no_opinion(self):
        self.assertNone("HookResult()", self.OWN)

    def test_massgen_allow_with_a_reason_is_an_opinion(self):
        self.assertReply("HookResult(reason='known')", {"decision": "allow", "reason": "known"}, self.OWN)

    def test_massgen_ask_keeps_allowed_true_and_still_asks(self):
        self.assertReply("HookResult(decision='ask')", {"decision": "ask"}, self.OWN)

    def test_an_unknown_decision_word_is_passed_on_to_be_refused(self):
        self.assertReply("HookResult(decision='nope')", {"decision": "nope"}, self.OWN)

    def test_an_enum_as_decision(self):
        before = """
            import enum, types
            class Decision(enum.Enum): DENY = "deny"
        """
        self.assertReply("types.SimpleNamespace(decision=Decision.DENY)", {"decision": "deny"}, before)

    def test_other_types_are_bad_output(self):
        for value in ("'deny'", "['deny']", "1", "True", "False", "0", "''", "b'{}'", "()", "object()", "HookResult"):
            with self.subTest(value=value):
                self.assertFailed(self.answer(value), "bad_output", "return None, a dict or a HookResult")

    def test_the_event_itself_is_bad_output(self):
        self.assertFailed(self.answer("event"), "bad_output", "returned a HookEvent")

    def test_a_generator_is_bad_output(self):
        self.assertFailed(self.hook("def check(event): yield {}"), "bad_output", "returned a generator")

    def test_a_value_that_is_not_json_is_named_with_its_path(self):
        answer = self.answer("{'updated_input': {'when': [1, {2}]}}")
        self.assertFailed(answer, "bad_output", "reply.updated_input.when.1: set is not JSON")

    def test_a_key_that_is_not_json_is_named_with_its_path(self):
        answer = self.answer("{'updated_input': {(1, 2): 3}}")
        self.assertFailed(answer, "bad_output", "reply.updated_input: keys", "tuple")

    def test_nan_and_infinity_are_bad_output(self):
        for value in ("nan", "inf", "-inf"):
            with self.subTest(value=value):
                self.assertFailed(self.answer(f"{{'a': float({value!r})}}"), "bad_output", "reply.a")

    def test_a_reply_that_contains_itself_is_bad_output(self):
        self.assertFailed(self.hook("""
            def check(event):
                reply = {}
                reply["reply"] = reply
                return reply
        """), "bad_output", "contains itself")

    def test_a_reply_may_have_the_maximum_size_and_no_more(self):
        self.write("guard.py", "def check(event): return {'a': 'x' * event.n}")
        self.load(max_reply=1000)
        self.assertEqual(self.call({"n": 1000 - len('{"a":""}')})["status"], "ok")
        self.assertFailed(self.call({"n": 1001 - len('{"a":""}')}), "oversize", "1001 bytes; 1000 are accepted")

    def test_the_maximum_is_1_mib_by_default(self):
        self.assertFailed(self.answer("{'a': 'x' * (1 << 20)}"), "oversize", "1048576 are accepted")

    def test_a_deny_that_cannot_be_written_is_told_with_the_failure(self):
        for reply in (
            "{'decision': 'deny', 'reason': 'x' * (1 << 20)}",
            "{'decision': 'block', 'reason': 'x', 'input': {1}}",
            "{'allowed': False, 'reason': 'x', 'input': float('inf')}",
            "{'abort': True, 'reason': 'x', 'input': [object()]}",
            "{'reason': 'x', 'input': {1}, 'hookSpecificOutput': {'permissionDecision': 'deny'}}",
            "deny('x', system_message='x' * (1 << 20))",
        ):
            with self.subTest(reply=reply):
                answer = self.answer(reply)
                self.assertIn(answer["kind"], ("oversize", "bad_output"))
                self.assertEqual(answer["deny"].strip("x"), "", answer)

    def test_a_failure_without_a_deny_tells_none(self):
        self.assertIsNone(self.answer("{'decision': 'ask', 'input': {1}}")["deny"])

    def test_the_methods_of_massgen_work(self):
        deny = {"allowed": False, "decision": "deny", "reason": "no"}
        self.assertReply("HookResult.deny('no')", deny)
        self.assertReply("HookResult(allowed=False, metadata={'reason': 5})", {**deny, "reason": "5"})
        for nothing in ("None", "0", "''"):
            self.assertReply(f"HookResult(allowed={nothing}, reason='no')", deny)
        self.assertReply("HookResult.deny()", {"allowed": False, "decision": "deny"})
        self.assertReply("HookResult.ask('sure?')", {"decision": "ask", "reason": "sure?"})
        self.assertReply("HookResult.allow()", {"decision": "allow"})
        self.assertReply("HookResult.from_dict({'decision': 'deny', 'reason': 'no'})", deny)
        self.assertReply("HookResult.from_dict({'allowed': False, 'reason': 'no'})", deny)
        self.assertReply("HookResult.from_dict({'decision': 'allow'})", {"decision": "allow"})
        self.assertNone("HookResult.from_dict({})")

    def test_the_fields_stand_in_massgens_order(self):
        deny = {"allowed": False, "decision": "deny", "reason": "no"}
        self.assertReply("HookResult(False, {'reason': 'no'})", deny)
        self.assertReply("HookResult(True, {}, '{}')", {"modified_args": "{}"})
        self.assertReply("HookResult(True, {}, None, 'deny', 'no')", deny)
        self.assertReply("HookResult(False, 'deny', 'no')", deny)
        self.assertReply("HookResult(allowed=False, metadata={'reason': 'no'})", deny)

    def test_a_deny_needs_no_reason(self):
        self.assertReply("deny()", {"allowed": False, "decision": "deny"})

    def test_errors_of_a_result_reach_the_user(self):
        self.assertReply(
            "(result := HookResult.deny('no'), result.add_error('disk full'))[0] if True else None",
            {"allowed": False, "decision": "deny", "reason": "no", "systemMessage": "disk full"},
        )
        self.assertReply("{'reason': str((HookResult().has_errors(), HookResult(hook_errors=['x']).has_errors()))}",
                         {"reason": "(False, True)"})

    def test_results_and_events_are_dataclasses(self):
        before = "import dataclasses, datetime\nfrom crosier import HookEvent"
        fields = "allowed metadata modified_args decision reason updated_input inject hook_errors executed_hooks"
        self.assertReply("{'reason': ' '.join(f.name for f in dataclasses.fields(HookResult))}", {"reason": fields}, before)
        self.assertReply(
            "{'reason': ' '.join(f.name for f in dataclasses.fields(event))}",
            {"reason": "hook_type session_id orchestrator_id agent_id timestamp tool_name tool_input tool_output"}, before)
        self.assertReply("{'reason': str(dataclasses.is_dataclass(HookResult) and dataclasses.is_dataclass(event))}",
                         {"reason": "True"}, before)
        self.assertReply("{'reason': dataclasses.asdict(HookResult.deny('x'))['decision']}", {"reason": "deny"}, before)
        self.assertReply("{'reason': dataclasses.asdict(event)['tool_name']}", {"reason": "Bash"}, before)
        self.assertReply("dataclasses.replace(HookResult.deny('x'), reason='y')",
                         {"allowed": False, "decision": "deny", "reason": "y"}, before)
        self.assertReply("{'reason': str(HookResult.deny('x') == HookResult.deny('x') != HookResult.deny('y'))}",
                         {"reason": "True"}, before)
        made = "HookEvent('PreToolUse', 's', 'o', None, datetime.datetime(2026, 1, 2), 'Bash', {'command': 'ls'})"
        self.assertReply(f"{{'reason': ({made}).to_json()}}", {"reason": json.dumps(
            {"hook_type": "PreToolUse", "session_id": "s", "orchestrator_id": "o", "agent_id": None,
             "timestamp": "2026-01-02T00:00:00", "tool_name": "Bash", "tool_input": {"command": "ls"}},
            separators=(",", ":"))}, before)
        self.assertReply("{'reason': str(HookEvent(timestamp=datetime.datetime(2026, 1, 2)).timestamp.year)}",
                         {"reason": "2026"}, before)

    def test_a_wrong_type_of_allowed_is_passed_on_to_be_refused(self):
        self.assertReply("HookResult(allowed='no')", {"allowed": "no"})

    def test_a_deny_that_quotes_a_lone_surrogate_arrives(self):
        self.hook("from crosier import deny\ndef check(event): print(event.prompt); return deny(event.prompt)")
        self.assertEqual(self.call(b'{"prompt": "a\\ud800b"}')["reply"]["reason"], "a\ufffdb")


class Sources(Case):
    DENIES, ALLOWS = "def check(event): return {'decision': 'deny'} \n", "def check(event): return {'decision': 'allow'}\n"

    def compile(self, source: Path, *target: str) -> None:
        program = "import py_compile, sys; py_compile.compile(*sys.argv[1:], doraise=True)"
        subprocess.run([PYTHON, "-c", program, str(source), *target], check=True)

    def test_a_guard_is_compiled_from_its_source_and_not_from_a_cache(self):
        # The bytecode of another source, with the time and the size of the real one.
        self.assertEqual(len(self.DENIES), len(self.ALLOWS))
        source = self.write("guard.py", self.ALLOWS)
        times = os.stat(source)
        self.compile(source)
        source.write_text(self.DENIES)
        os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.load()
        self.assertEqual(self.call()["reply"], {"decision": "deny"})

    def test_bytecode_without_a_source_is_not_loaded(self):
        source = self.write("guard.py", self.ALLOWS)
        self.compile(source, f"{source}c")
        os.remove(source)
        self.assertFailed(self.load(), "import", "guard")

    def test_a_package_and_a_module_of_one_name_are_refused(self):
        self.write("guard.py", self.DENIES)
        self.write("guard/__init__.py", self.DENIES)
        self.assertFailed(self.load(), "import", "guard.py", "guard/__init__.py", "rename")

    def test_a_neighbour_that_is_both_is_refused(self):
        self.write("guard.py", "import rules\n" + self.DENIES)
        self.write("rules/__init__.py", "")
        self.write("rules.py", "")
        self.assertFailed(self.load(), "import", "rules.py", "rename")


class Failures(Case):
    def test_an_exception_is_told_with_its_place(self):
        answer = self.hook("def check(event):\n    return event['x']")
        self.assertFailed(answer, "error")
        self.assertEqual(answer["detail"], "KeyError: 'x' (guard.py:2 in check)")

    def test_the_whole_traceback_is_given_apart(self):
        answer = self.hook("def check(event): return deeper()\ndef deeper(): 1 / 0")
        self.assertRegex(answer["traceback"], r"(?s)^Traceback .*guard.py.*in check\n.*in deeper\n.*ZeroDivisionError")
        self.assertNotIn("_answer", answer["traceback"])

    def test_an_exception_from_elsewhere_is_told_with_both_places(self):
        answer = self.hook("import json\ndef check(event): json.loads('{')")
        self.assertFailed(answer, "error", "JSONDecodeError: ", "(decoder.py:", "called from guard.py:2 in check)")

    def test_an_exception_in_an_async_function_is_told_with_its_place(self):
        answer = self.hook("async def check(event):\n    raise OSError('disk')")
        self.assertEqual(answer["detail"], "OSError: disk (guard.py:2 in check)")

    def test_everything_that_can_be_raised_is_an_error(self):
        for raised in ("SystemExit(2)", "KeyboardInterrupt", "MemoryError", "GeneratorExit", "BaseException('odd')"):
            with self.subTest(raised=raised):
                answer = self.hook(f"def check(event): raise {raised}")
                self.assertFailed(answer, "error", raised.partition("(")[0], "guard.py:1 in check")

    def test_an_async_function_may_raise_system_exit(self):
        self.assertFailed(self.hook("async def check(event): raise SystemExit(2)"), "error", "SystemExit: 2")
        self.assertFailed(self.call(), "error", "SystemExit: 2")

    def test_endless_recursion_is_an_error(self):
        self.assertFailed(self.hook("def check(event): return check(event)"), "error", "RecursionError")

    def test_running_out_of_memory_is_an_error(self):
        self.assertFailed(self.hook("def check(event): return 'x' * (1 << 60)"), "error", "MemoryError")

    def test_an_exception_that_cannot_be_shown_is_an_error(self):
        self.assertFailed(self.hook("""
            class Odd(Exception):
                def __str__(self): raise ValueError
            def check(event): raise Odd
        """), "error", "Odd")

    def test_an_endless_message_is_cut(self):
        self.assertLessEqual(len(self.hook("def check(event): raise OSError('x' * 10**6)")["detail"]), 2000)

    def test_the_worker_goes_on_after_a_failure(self):
        self.hook("def check(event): raise OSError")
        self.assertEqual(self.reply(DENY), DENIED)

    def test_a_missing_module_names_module_path_and_cause(self):
        answer = self.load("nowhere.check", paths=["/some/config", "/some/lib"])
        self.assertFailed(answer, "import", "module 'nowhere'", "/some/config, /some/lib", "the path of", "No module")

    def test_a_missing_dependency_names_itself_and_the_line(self):
        answer = self.hook("import os\nimport nothing_like_it\n")
        self.assertFailed(answer, "import", "No module named 'nothing_like_it' (guard.py:2 in <module>)")

    def test_a_syntax_error_shows_file_and_line(self):
        answer = self.hook("import os\nreason = = 1\n")
        self.assertFailed(answer, "import", "SyntaxError", f"({self.folder}/guard.py:2)")

    def test_sys_exit_while_importing_is_an_import_failure(self):
        self.assertFailed(self.hook("import sys\nsys.exit(3)"), "import", "SystemExit: 3 (guard.py:2 in <module>)")

    def test_an_exception_while_importing_is_an_import_failure(self):
        answer = self.hook("raise OSError('no rules')")
        self.assertFailed(answer, "import", "OSError: no rules (guard.py:1 in <module>)")
        self.assertIn("Traceback", answer["traceback"])

    def test_a_missing_function_tells_which_there_are(self):
        self.assertFailed(self.hook("def chek(event): pass"), "import", "no such function; the module has chek")

    def test_a_call_of_a_hook_that_failed_to_load_fails_alike(self):
        self.hook("raise OSError('no rules')")
        self.assertFailed(self.call(), "import", "no rules")

    def assertUndelivered(self, data: bytes, *parts: str) -> None:
        self.load() if (self.folder / "guard.py").exists() else self.hook(DENY)
        self.assertFailed(self.call(data), "delivery", *parts)
        self.assertEqual(self.call()["reply"], DENIED)

    def test_an_event_100_000_levels_deep_is_undelivered(self):
        self.assertUndelivered(b'{"tool_input":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "RecursionError")

    def test_an_event_100_000_levels_deep_is_undelivered_when_a_hook_raised_the_limit(self):
        self.write("guard.py", DENY + "\n    import sys\n    sys.setrecursionlimit(10**8)\n")
        self.assertUndelivered(b'{"tool_input":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "RecursionError")

    def test_an_integer_of_a_million_digits_is_undelivered_at_once(self):
        self.hook(DENY)
        started = time.monotonic()
        # Reading them would take an hour.
        self.assertUndelivered(b'{"n":' + b"9" * 10_000_000 + b"}", "digits")
        self.assertLess(time.monotonic() - started, 60)

    def test_a_long_integer_is_undelivered_when_a_hook_raised_the_limit(self):
        if not hasattr(sys, "set_int_max_str_digits"):
            self.skipTest("this python has no limit to raise")
        self.write("guard.py", DENY + "\n    import sys\n    sys.set_int_max_str_digits(0)\n")
        self.assertUndelivered(b'{"n":' + b"9" * 10_000_000 + b"}", "digits")
        self.assertUndelivered(b'{"n":' + b"9" * 10_000_000 + b"}", "digits")

    def test_a_long_integer_is_undelivered_where_python_has_no_limit(self):
        for more in ("", "sys.modules['_json'] = None"):
            with self.subTest(more):
                self.worker = self.start(f"""import sys
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)
    del sys.set_int_max_str_digits
{more}""")
                self.assertUndelivered(b'{"n":' + b"9" * 10_000_000 + b"}", "digits")

    def test_an_event_that_is_not_utf_8_is_undelivered(self):
        self.assertUndelivered(b'{"a":"\xff"}', "UnicodeDecodeError")

    def test_an_event_that_is_not_json_is_undelivered(self):
        for data in (b"", b"{", b'{"a":NaN}', b'{"a":1,}', b"nonsense"):
            with self.subTest(data=data):
                self.assertUndelivered(data)

    def test_an_event_that_is_no_object_is_undelivered(self):
        for data in (b"[1]", b'"x"', b"1", b"null", b"[]"):
            with self.subTest(data=data):
                self.assertUndelivered(data)

    def test_a_missing_folder_is_undelivered(self):
        self.assertFailed(self.hook(DENY, cwd="/nowhere/at/all"), "delivery", "/nowhere/at/all")
        self.load(cwd=None)
        self.assertFailed(self.call({"cwd": "/nowhere/or/else"}), "delivery", "/nowhere/or/else")

    def test_a_worker_that_dies_says_nothing(self):
        with self.assertRaises(EOFError):
            self.hook("import os\ndef check(event): os._exit(7)")
        self.assertEqual(self.worker.process.wait(60), 7)


class Reload(Case):
    def text(self, reason: str) -> str:
        return f"def check(event): return {{'reason': {reason!r}}}"

    def test_a_changed_module_is_used_at_the_next_call(self):
        self.assertEqual(self.reply(self.text("a")), {"reason": "a"})
        self.write("guard.py", self.text("b"))
        self.assertEqual(self.call()["reply"], {"reason": "b"})

    def test_an_unchanged_module_keeps_its_state(self):
        self.hook("seen = []\ndef check(event): seen.append(1); return {'reason': str(len(seen))}")
        self.assertEqual(self.call()["reply"], {"reason": "2"})

    def test_a_changed_module_is_loaded_once_for_all_its_hooks(self):
        text = "seen = []\ndef check(event): seen.append(1); return {'reason': str(len(seen))}\nother = check\n"
        self.hook(text)
        self.load("guard.other", hook=2)
        self.write("guard.py", text)
        self.assertEqual([self.call(hook=hook)["reply"]["reason"] for hook in (1, 2)], ["1", "2"])

    def test_a_changed_neighbour_is_used_at_the_next_call(self):
        self.write("rules.py", "reason = 'a'")
        text = "from rules import reason\ndef check(event): return {'reason': reason}"
        self.hook(text, paths=[f"{self.folder}/"])
        self.write("rules.py", "reason = 'b'")
        self.assertEqual(self.call()["reply"], {"reason": "b"})

    def test_a_changed_part_of_the_package_is_used_at_the_next_call(self):
        self.write("hooks/__init__.py", "")
        self.write("hooks/rules.py", "reason = 'a'")
        self.write("hooks/guard.py", "from .rules import reason\ndef check(event): return {'reason': reason}")
        self.load("hooks.guard.check")
        self.write("hooks/rules.py", "reason = 'b'")
        self.assertEqual(self.call()["reply"], {"reason": "b"})

    def test_a_changed_class_is_made_anew(self):
        self.hook("class Check:\n    def __call__(self, event): return {'reason': 'a'}", "guard.Check")
        self.write("guard.py", "class Check:\n    def __call__(self, event): return {'reason': 'b'}")
        self.assertEqual(self.call()["reply"], {"reason": "b"})

    def test_a_removed_module_is_an_import_failure(self):
        self.hook(DENY)
        (self.folder / "guard.py").unlink()
        self.assertFailed(self.call(), "import", "No module named 'guard'")

    def test_a_change_that_breaks_the_module_is_an_import_failure(self):
        self.hook(DENY)
        self.write("guard.py", "def check(")
        self.assertFailed(self.call(), "import", "SyntaxError")

    def test_a_failed_import_is_not_tried_at_every_call(self):
        self.hook("print('tried')\nraise OSError")
        self.assertFailed(self.call(), "import")
        self.assertFailed(self.call(), "import")
        self.assertEqual(self.worker.printed().count("tried"), 1)

    def test_a_failed_import_is_tried_again_when_the_file_changes(self):
        self.hook("raise OSError")
        self.write("guard.py", DENY)
        self.assertEqual(self.call()["reply"], DENIED)

    def test_a_missing_module_is_found_when_it_appears(self):
        self.load()
        self.write("guard.py", DENY)
        self.assertEqual(self.call()["reply"], DENIED)

    def test_a_broken_neighbour_is_tried_again_when_it_changes(self):
        self.write("rules.py", "reason = (")
        self.hook("from rules import reason\ndef check(event): return {'reason': reason}")
        self.write("rules.py", "reason = 'a'")
        self.assertEqual(self.call()["reply"], {"reason": "a"})

    def test_a_missing_neighbour_is_found_when_it_appears(self):
        self.hook("from rules import reason\ndef check(event): return {'reason': reason}")
        self.write("rules.py", "reason = 'a'")
        self.assertEqual(self.call()["reply"], {"reason": "a"})

    def test_the_files_of_a_hook_are_told_as_they_were(self):
        self.write("rules.py", "reason = 'a'")
        self.hook("import json, rules\ndef check(event): pass")
        files = [str(self.folder / name) for name in ("guard.py", "rules.py")]
        self.assertEqual(self.watched[1], {file: stamp(file) for file in files})

    def test_a_neighbour_that_is_imported_inside_a_function_is_watched(self):
        self.write("rules.py", "reason = 'a'")
        text = "def check(event):\n    from rules import reason\n    return {'reason': reason}"
        self.hook(text)
        self.write("other.py", text)
        self.load("other.check", hook=2)
        self.assertEqual([self.call()["reply"], self.call(hook=2)["reply"]], [{"reason": "a"}] * 2)
        for version in "bc":
            self.write("rules.py", f"reason = '{version}'")
            # Whichever is called first, and although only one of them has run the import.
            order = (1, 2) if version == "b" else (2, 1)
            self.assertEqual([self.call(hook=hook)["reply"] for hook in order], [{"reason": version}] * 2)

    def test_a_part_of_a_package_that_is_imported_inside_a_function_is_watched(self):
        self.write("pack/__init__.py", "")
        self.write("pack/rules.py", "reason = 'a'")
        self.write("pack/guard.py", "def check(event):\n    from .rules import reason\n    return {'reason': reason}")
        self.load("pack.guard.check")
        self.assertEqual(self.call()["reply"], {"reason": "a"})
        self.write("pack/rules.py", "reason = 'b'")
        self.assertEqual(self.call()["reply"], {"reason": "b"})

    def test_a_late_import_is_told_once(self):
        self.write("rules.py", "reason = 'a'")
        self.hook("def check(event):\n    from rules import reason\n    return {'reason': reason}")
        self.assertTrue(self.worker.has_imported)
        for _ in range(2):
            self.call()
            self.assertFalse(self.worker.has_imported)

    def test_a_module_that_appears_in_an_earlier_folder_is_used(self):
        self.write("lib/guard.py", "def check(event): return {'reason': 'lib'}")
        self.load(paths=[str(self.folder), str(self.folder / "lib")])
        self.assertEqual(self.call()["reply"], {"reason": "lib"})
        self.write("guard.py", DENY)
        self.assertEqual(self.call()["reply"], DENIED)

    def test_a_neighbour_that_appears_in_an_earlier_folder_is_used(self):
        self.write("lib/rules.py", "reason = 'lib'")
        self.write("guard.py", "from rules import reason\ndef check(event): return {'reason': reason}")
        self.load(paths=[str(self.folder), str(self.folder / "lib")])
        self.assertEqual(self.call()["reply"], {"reason": "lib"})
        self.write("rules.py", "reason = 'here'")
        self.assertEqual(self.call()["reply"], {"reason": "here"})

    def test_a_module_of_the_interpreter_gives_way_to_one_that_appears(self):
        self.load("colorsys.rgb_to_hls")
        self.write("colorsys.py", "def rgb_to_hls(event): return {'reason': 'here'}")
        self.assertEqual(self.call().get("reply"), {"reason": "here"})

    def test_a_change_of_the_same_size_whose_time_was_set_back_is_seen(self):
        self.hook("def check(event): return {'reason': 'a'}")
        path = self.folder / "guard.py"
        found = path.stat()
        time.sleep(0.05)  # more than a tick of the clock of the file system
        path.write_text(path.read_text().replace("'a'", "'b'"))
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
        self.assertEqual(self.call()["reply"], {"reason": "b"})

    def test_a_hook_that_is_loaded_again_keeps_its_state_while_nothing_changed(self):
        self.hook("seen = []\ndef check(event): seen.append(1); return {'reason': str(len(seen))}")
        self.load()
        self.assertEqual(self.call()["reply"], {"reason": "2"})

    def test_no_bytecode_is_left_beside_the_config(self):
        self.hook(DENY)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["guard.py", "stderr.log"])


class UnfriendlyHooks(Case):
    def assertHarmless(self, body: str, before: str = "") -> None:
        """The call is answered, and so is the next, by another hook that prints."""
        lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
        head = textwrap.dedent(before) + "\nimport os, sys\n"
        answer = self.hook(f"{head}def check(event):\n{lines}\n    return {DENIED}")
        self.assertEqual(answer.get("reply"), DENIED, answer)
        self.write("other.py", f"def check(event): print('still here'); return {DENIED}")
        self.load("other.check", hook=2)
        self.assertEqual(self.call(hook=2).get("reply"), DENIED)
        self.assertIn("still here\n", self.worker.printed())

    def test_what_is_printed_is_there_before_the_answer(self):
        self.hook("import sys\ndef check(event): print('out', end=''); print('err', end='', file=sys.stderr)")
        self.assertEqual(self.worker.printed(), "outerr")

    def test_printing_while_importing_is_harmless(self):
        self.assertHarmless("pass", before="print('7\\n{\"id\":2}')")

    def test_noise_on_descriptor_1_is_harmless(self):
        self.assertHarmless("os.write(1, bytes(range(256)))")

    def test_noise_of_a_child_process_is_harmless(self):
        self.assertHarmless("os.system('echo noise; cat')")

    def test_closing_stdout_is_harmless(self):
        self.assertHarmless("sys.stdout.close(); sys.stderr.close()")

    def test_replacing_stdout_is_harmless(self):
        self.assertHarmless("sys.stdout = sys.stderr = None")

    def test_closing_descriptor_0_is_harmless(self):
        self.assertHarmless("os.close(0)")

    def test_reading_stdin_finds_nothing(self):
        self.assertHarmless("assert sys.stdin.read() == ''")

    def test_changing_the_folder_is_harmless(self):
        self.assertHarmless("os.chdir('/')")
        self.write("guard.py", "import os\ndef check(event): return {'reason': os.getcwd()}")
        self.assertEqual(self.call()["reply"], {"reason": os.path.realpath(self.folder)})

    def test_the_folder_is_right_whoever_changed_it_and_however(self):
        self.write("other.py", "import os\ndef check(event): return {'reason': os.getcwd()}")
        self.load("other.check", hook=2)
        ways = {
            "descriptor": "os.fchdir(os.open('/', 0))",
            "thread": "t = threading.Thread(target=os.chdir, args='/'); t.start(); t.join()",
            "nowhere": "import tempfile; d = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d)",
            "c": "import ctypes; ctypes.CDLL(None).chdir(b'/')",
        }
        for name, way in ways.items():
            self.write("guard.py", f"import os, threading\ndef check(event): {way}; return {{'reason': 'moved'}}")
            self.load("guard.check")
            for _ in range(3):
                with self.subTest(name):
                    self.assertEqual(self.call()["reply"], {"reason": "moved"})
                    for _ in range(2):
                        self.assertEqual(self.call(hook=2)["reply"], {"reason": os.path.realpath(self.folder)})

    def test_the_folder_is_that_of_the_hook_or_of_the_event_or_the_workers(self):
        self.hook("import os\ndef check(event): return {'reason': os.getcwd()}", cwd="/")
        for event in ({}, {"cwd": "/dev"}):
            self.assertEqual(self.call(event)["reply"], {"reason": "/"})
        self.load(cwd=None)
        own = os.path.realpath(self.folder)
        for event, folder in (({"cwd": "/dev"}, "/dev"), ({"cwd": ""}, own), ({}, own)):
            self.assertEqual(self.call(event)["reply"], {"reason": folder})

    def test_the_folder_is_the_one_that_its_path_leads_to(self):
        text = "import os\ndef check(event): return {'reason': os.stat('.').st_ino}"
        folder = self.folder / "config"
        self.write("config/guard.py", text)
        self.load(paths=[str(folder)], cwd=str(folder))
        for version in range(3):
            with self.subTest(version):
                self.assertEqual(self.call()["reply"], {"reason": folder.stat().st_ino})
                folder.rename(self.folder / f"old-{version}")
                self.write("config/guard.py", text)
        shutil.rmtree(folder)
        self.assertFailed(self.call(), "import")

    def test_a_hook_without_descriptors_left_runs_in_its_folder(self):
        limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (253, 253))"
        self.worker = self.start(limit)
        text = "import os\ndef check(event): return {'reason': os.getcwd()}"
        self.assertEqual(self.reply(text), {"reason": os.path.realpath(self.folder)})

    def test_descriptors_that_are_closed_are_there_again_at_the_next_call(self):
        self.hook(f"import os\ndef check(event):\n    for number in range(3): os.close(number)\n    return {DENIED}")
        for _ in range(3):
            self.assertEqual(self.call().get("reply"), DENIED)
        self.write("other.py", "import os\ndef check(event): return {'reason': str([os.read(0, 1), os.write(1, b'noise')])}")
        self.load("other.check", hook=2)
        self.assertEqual(self.call(hook=2).get("reply"), {"reason": "[b'', 5]"})

    def test_the_module_crosier_cannot_be_changed(self):
        for change in ("crosier.deny = lambda *_: None", "del crosier.deny", "setattr(crosier, 'deny', None)"):
            answer = self.hook(f"import crosier\ndef check(event): {change}")
            self.assertFailed(answer, "error", "crosier.deny cannot be changed")
        self.write("other.py", "import crosier\ndef check(event): return crosier.deny('no')")
        self.load("other.check", hook=2)
        self.assertEqual(self.call(hook=2)["reply"]["decision"], "deny")

    def test_a_worker_without_modules_is_not_used_again(self):
        for spoil in ("sys.modules.clear()", "sys.modules = {}", "sys.modules['crosier'] = sys"):
            with self.subTest(spoil):
                self.worker = self.start()
                self.assertEqual(self.hook(f"import sys\ndef check(event):\n    {spoil}\n    return {DENIED}").get("reply"), DENIED)
                self.assertTrue(self.worker.is_spoiled)

    def test_closing_low_descriptors_is_harmless(self):
        self.assertHarmless("os.closerange(0, 250)")

    def test_closing_the_channel_ends_the_worker(self):
        with self.assertRaises(EOFError):
            self.hook("import os\ndef check(event):\n    os.closerange(3, 256)\n    log = open('log', 'w')")
        self.assertEqual(self.worker.process.wait(60), 1)
        self.assertIn("the channel is gone", self.worker.printed())

    def test_a_hook_that_returns_in_a_forked_child_answers_once(self):
        self.assertHarmless("os.fork()")

    def test_a_hook_that_raises_in_a_forked_child_answers_once(self):
        self.assertHarmless("if not os.fork(): raise OSError")

    def test_a_fork_that_python_does_not_know_of_answers_once(self):
        self.assertHarmless("ctypes.CDLL(None).fork()", before="import ctypes")

    def test_a_module_that_forks_answers_once(self):
        self.assertHarmless("pass", before="import os; os.fork()")

    def test_a_forked_child_does_not_hold_the_channel(self):
        started = time.monotonic()
        with self.assertRaises(EOFError):
            self.hook("import os, time\ndef check(event): os._exit(7) if os.fork() else time.sleep(600)")
        self.assertLess(time.monotonic() - started, 60)

    def test_children_do_not_inherit_the_channel(self):
        text = "import os\ndef check(event): return {'reason': os.popen('ls /proc/self/fd').read()}"
        listed = self.reply(text)["reason"].split()
        self.assertLessEqual(set(map(int, listed)), {0, 1, 2, 3})

    def test_an_alarm_that_rings_between_calls_is_harmless(self):
        self.assertHarmless("signal.setitimer(signal.ITIMER_REAL, 0.005); signal.sigtimedwait([], 0)", before="""
            import signal
            def ring(*_): raise TimeoutError("late")
            signal.signal(signal.SIGALRM, ring)
        """)
        time.sleep(0.02)
        self.assertEqual(self.call(hook=2)["reply"], DENIED)

    def test_an_alarm_that_wants_to_end_the_worker_is_harmless(self):
        self.assertHarmless("signal.setitimer(signal.ITIMER_REAL, 0.005)", before="""
            import signal, sys
            signal.signal(signal.SIGALRM, lambda *_: sys.exit(3))
        """)
        time.sleep(0.02)
        self.assertEqual(self.call(hook=2)["reply"], DENIED)

    def test_threads_are_harmless(self):
        self.assertHarmless("""
            import threading, time
            threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        """)

    def test_a_low_recursion_limit_is_harmless(self):
        self.assertHarmless("sys.setrecursionlimit(50)")

    def test_patching_os_is_harmless(self):
        self.assertHarmless("os.read = os.write = os.getpid = os.chdir = os.stat = None")

    def test_an_alarm_is_taken_back(self):
        self.write("other.py", "import signal\ndef check(event): return {'reason': signal.getitimer(signal.ITIMER_REAL)}")
        self.load("other.check", hook=2)
        for call in ("alarm(60)", "setitimer(signal.ITIMER_REAL, 60, 60)"):
            with self.subTest(call):
                self.hook(f"import signal\ndef check(event): signal.{call}")
                self.assertEqual(self.call(hook=2)["reply"], {"reason": [0, 0]})

    def test_an_alarm_that_python_does_not_know_of_is_taken_back(self):
        self.hook("import ctypes\ndef check(event): return {'reason': str(ctypes.CDLL(None).alarm(60))}")
        self.assertEqual(self.call()["reply"], {"reason": "0"})

    def test_tasks_left_over_are_cancelled(self):
        self.hook("""
            import asyncio
            ended = []
            async def later():
                try:
                    await asyncio.sleep(600)
                finally:
                    ended.append("cancelled")
            async def check(event):
                if not ended:
                    asyncio.ensure_future(later())
                    await asyncio.sleep(0)
                return {"reason": str(ended)}
        """)
        self.assertEqual(self.call()["reply"], {"reason": "['cancelled']"})

    def test_a_stopped_loop_is_an_error_and_the_next_call_works(self):
        answer = self.hook("""
            import asyncio
            stopped = []
            async def check(event):
                if not stopped:
                    stopped.append(1)
                    asyncio.get_running_loop().stop()
                    await asyncio.sleep(1)
                return {"decision": "deny", "reason": "no"}
        """)
        self.assertFailed(answer, "error", "RuntimeError: Event loop stopped")
        self.assertEqual(self.call()["reply"], DENIED)

    def test_a_closed_loop_is_replaced(self):
        self.hook("""
            import asyncio
            async def check(event):
                global loop
                loop = asyncio.get_running_loop()
                return {"decision": "deny", "reason": "no"}
            def close(event): loop.close()
        """)
        self.load("guard.close", hook=2)
        self.call(hook=2)
        self.assertEqual(self.call()["reply"], DENIED)

    def test_a_function_may_run_a_loop_of_its_own(self):
        self.assertEqual(self.reply("""
            import asyncio
            async def decide(): return {"decision": "deny", "reason": "no"}
            def check(event): return asyncio.run(decide())
        """), DENIED)

    def test_a_thousand_calls_leave_no_descriptor_behind(self):
        self.hook("async def check(event): return None")
        folder = f"/proc/{self.worker.process.pid}/fd"
        before = len(os.listdir(folder))
        for _ in range(1000):
            self.call()
        self.assertEqual(len(os.listdir(folder)), before)


class Forked(Case):
    """`fork: true`: each call in a fork of the warm interpreter."""

    def fork(self, text: str, event: object = None) -> dict:
        return self.hook(text, event=event, fork=True)

    def test_it_answers(self):
        self.assertEqual(self.fork(DENY)["reply"], DENIED)

    def test_it_answers_without_an_opinion(self):
        self.assertEqual(self.fork("def check(event): pass")["status"], "none")

    def test_it_runs_in_a_process_of_its_own_in_the_same_group(self):
        seen = self.fork("import os\ndef check(event): return {'reason': f'{os.getpid()} {os.getpgid(0)}'}")["reply"]
        pid, group = map(int, seen["reason"].split())
        self.assertNotEqual(pid, self.worker.process.pid)
        self.assertEqual(group, self.worker.process.pid)

    def test_nothing_stays_behind_in_the_interpreter(self):
        self.fork("seen = []\ndef check(event): seen.append(1); return {'reason': str(len(seen))}")
        self.assertEqual(self.call()["reply"], {"reason": "1"})

    def test_an_exception_is_told_as_usual(self):
        self.assertFailed(self.fork("def check(event): 1 / 0"), "error", "ZeroDivisionError", "guard.py:1 in check")

    def test_an_event_that_cannot_be_read_is_undelivered(self):
        self.fork(DENY)
        self.assertFailed(self.call(b"["), "delivery")

    def test_a_reply_of_the_maximum_size_arrives(self):
        reply = self.fork("def check(event): return {'a': 'x' * ((1 << 20) - 8)}")["reply"]
        self.assertEqual(len(reply["a"]), (1 << 20) - 8)

    def test_a_larger_reply_is_oversize(self):
        self.assertFailed(self.fork("def check(event): return {'a': 'x' * (1 << 20)}"), "oversize")

    def test_a_long_traceback_with_odd_characters_arrives(self):
        answer = self.fork("def check(event): raise OSError('\\x01\U0001f600' * 20000)")
        self.assertFailed(answer, "error", "OSError")

    def test_a_child_that_exits_is_lost_and_the_worker_lives(self):
        self.assertFailed(self.fork("import os\ndef check(event): os._exit(3)"), "worker_lost", "exit status 3")
        self.assertEqual(self.fork(DENY)["reply"], DENIED)

    def test_a_child_that_is_killed_is_lost_and_the_worker_lives(self):
        text = "import os\ndef check(event): os.kill(os.getpid(), 9)"
        self.assertFailed(self.fork(text), "worker_lost", "signal 9")
        self.assertEqual(self.fork(DENY)["reply"], DENIED)

    def test_a_grandchild_that_lives_on_does_not_delay(self):
        started = time.monotonic()
        self.assertEqual(self.fork(f"""
            import os, time
            def check(event):
                if not os.fork(): time.sleep(600)
                return {DENIED}
        """)["reply"], DENIED)
        self.assertLess(time.monotonic() - started, 60)

    def test_a_grandchild_that_lives_on_does_not_hide_a_death(self):
        self.assertFailed(self.fork("""
            import os, time
            def check(event):
                if not os.fork(): time.sleep(600)
                os._exit(3)
        """), "worker_lost", "exit status 3")

    def test_a_grandchild_that_returns_does_not_answer(self):
        self.assertEqual(self.fork(f"""
            import os
            def check(event):
                if not os.fork(): return {{"decision": "allow"}}
                os.wait()
                return {DENIED}
        """)["reply"], DENIED)

    def test_an_async_function_gets_a_loop_of_its_own(self):
        self.hook(f"import asyncio\nasync def check(event):\n    await asyncio.sleep(0.001)\n    return {DENIED}")
        self.load(hook=2, fork=True)
        for hook in (2, 1, 2, 1):
            self.assertEqual(self.call(hook=hook)["reply"], DENIED)

    def test_ignored_children_are_harmless(self):
        text = f"import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\ndef check(event): return {DENIED}"
        self.assertEqual(self.fork(text)["reply"], DENIED)

    def test_a_changed_module_is_loaded_before_the_fork(self):
        self.fork("print('loading')\ndef check(event): return {'reason': 'a'}")
        self.write("guard.py", "print('loading')\ndef check(event): return {'reason': 'b'}")
        self.assertEqual([self.call()["reply"], self.call()["reply"]], [{"reason": "b"}] * 2)
        self.assertEqual(self.worker.printed().count("loading"), 2)

    def test_what_is_printed_is_printed_once(self):
        self.fork("def check(event): print('seen', end='')")
        self.assertEqual(self.worker.printed(), "seen")

    def test_no_zombie_and_no_descriptor_is_left(self):
        self.fork(DENY)
        before = os.listdir(f"/proc/{self.worker.process.pid}/fd")
        self.call()
        self.assertEqual(os.listdir(f"/proc/{self.worker.process.pid}/fd"), before)
        children = Path(f"/proc/{self.worker.process.pid}/task/{self.worker.process.pid}/children").read_text()
        self.assertEqual(children, "")


class TheRecord(Case):
    """What a worker loads from a project whose files a person trusted: recorded sources, and nothing else."""

    def setUp(self) -> None:
        super().setUp()
        self.project = self.folder / "project"

    def trusted(self, text: str, files: dict[str, str] | None = None, units: tuple = (), **fields: object) -> dict:
        """Write and record a hook and more files, then load it and call it."""
        paths = [self.write(f"project/{name}", text) for name, text in {"guard.py": text, **(files or {})}.items()]
        digests = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
        record = {"folders": [str(self.project)], "files": digests, "units": [str(self.project / u) for u in units]}
        fields = {"paths": [str(self.project)], "cwd": str(self.project), "record": record, **fields}
        loaded = self.load(**fields)
        return self.call() if loaded["status"] == "ok" else loaded

    def importing(self, statement: str, **more: object) -> dict:
        return self.trusted(f"def check(event):\n    {statement}\n    return {DENIED}", **more)

    def assertRefused(self, answer: dict, *parts: str) -> None:
        """Refused while a hook was loaded or while it ran."""
        self.assertEqual(answer["status"], "failed", answer)
        self.assertIn(answer["kind"], ("import", "error"), answer)
        for part in (*parts, "crosier trust"):
            self.assertIn(part, answer["detail"])
        self.assertNotIn("EVIL", self.worker.printed())

    def compiled(self, name: str, to: str) -> Path:
        source = self.write(f"elsewhere/{name}.py", "print('EVIL')\ndef check(event): return {}")
        path = self.project / to
        path.parent.mkdir(parents=True, exist_ok=True)
        code = f"import py_compile; py_compile.compile({str(source)!r}, {str(path)!r}, doraise=True)"
        subprocess.run([PYTHON, "-I", "-c", code], check=True)
        return path

    EVIL = "print('EVIL')\nx = 1\n"

    def test_recorded_sources_are_loaded(self):
        files = {"rules.py": "import pkg.deep\nx = pkg.deep.x", "pkg/__init__.py": "", "pkg/deep.py": "x = 'deep'"}
        answer = self.trusted(f"import rules\ndef check(event): return {{**{DENIED}, 'reason': rules.x}}", files)
        self.assertEqual(answer["reply"], {"decision": "deny", "reason": "deep"})

    def test_a_module_that_changed_is_refused(self):
        self.assertEqual(self.trusted(DENY)["reply"], DENIED)
        self.write("project/guard.py", self.EVIL + DENY.replace("\n    ", "\n"))
        self.assertRefused(self.call(), "guard.py changed since it was trusted")

    def test_a_neighbour_that_changed_is_refused(self):
        answer = self.trusted("import rules\ndef check(event): return {}", {"rules.py": "x = 1"})
        self.assertEqual(answer["status"], "none")
        self.write("project/rules.py", self.EVIL)
        self.assertRefused(self.call(), "rules.py changed since it was trusted")

    def test_an_unrecorded_module_is_refused(self):
        self.write("project/rules.py", self.EVIL)
        self.assertRefused(self.importing("import rules"), "rules.py is not in the record")

    def test_an_unrecorded_hook_is_an_import_failure(self):
        self.write("project/other.py", self.EVIL)
        self.trusted(DENY)
        loaded = self.load("other.check", paths=[str(self.project)])
        self.assertFailed(loaded, "import", "other.py is not in the record")

    def test_a_package_beside_the_module_is_refused(self):
        self.write("project/guard/__init__.py", self.EVIL)
        self.assertFailed(self.trusted(DENY), "import", "which of them is the guard")

    def test_a_package_beside_a_module_that_is_imported_late_is_an_import_failure(self):
        self.write("project/late/__init__.py", self.EVIL)
        answer = self.importing("import late", files={"late.py": "x = 1"})
        self.assertFailed(answer, "import", "which of them is the guard")

    def test_an_unrecorded_part_of_a_package_is_refused(self):
        self.write("project/pkg/more.py", self.EVIL)
        answer = self.importing("from pkg import more", files={"pkg/__init__.py": ""})
        self.assertRefused(answer, "pkg/more.py is not in the record")

    def test_a_pyc_is_refused(self):
        self.compiled("rules", "rules.pyc")
        self.assertRefused(self.importing("import rules"), "rules.pyc is no python source")

    def test_a_cache_is_not_believed(self):
        answer = self.trusted("import rules\ndef check(event): return {'reason': rules.x}", {"rules.py": "x = 'good'"})
        self.assertEqual(answer["reply"], {"reason": "good"})
        tag = subprocess.check_output([PYTHON, "-c", "import sys; print(sys.implementation.cache_tag)"], text=True)
        self.compiled("rules", f"__pycache__/rules.{tag.strip()}.pyc")
        self.worker = self.start()
        self.assertEqual(self.trusted("import rules\ndef check(event): return {'reason': rules.x}",
                                      {"rules.py": "x = 'good'"})["reply"], {"reason": "good"})
        self.assertNotIn("EVIL", self.worker.printed())

    def test_a_compiled_extension_is_refused(self):
        ending = subprocess.check_output([PYTHON, "-c", "import _imp; print(_imp.extension_suffixes()[0])"], text=True)
        self.write(f"project/rules{ending.strip()}", "")
        self.assertRefused(self.importing("import rules"), "is no python source")

    def test_the_loader_of_extensions_is_refused(self):
        self.write("project/rules.so", "")
        answer = self.importing(f"""import importlib.machinery as m
    loader = m.ExtensionFileLoader("rules", {str(self.project / "rules.so")!r})
    loader.create_module(m.ModuleSpec("rules", loader, origin=loader.path))""")
        self.assertRefused(answer, "rules.so is compiled code")

    def test_ctypes_is_refused(self):
        self.write("project/rules.so", "")
        answer = self.importing(f"import ctypes; ctypes.CDLL({str(self.project / 'rules.so')!r})")
        self.assertRefused(answer, "rules.so is compiled code")

    def test_a_package_without_init_is_loaded_when_its_sources_are_recorded(self):
        files = {"space/rules.py": "from space.deep import words\nx = words.x", "space/deep/words.py": "x = 'deep'"}
        answer = self.trusted(f"import space.rules\ndef check(event): return {{**{DENIED}, 'reason': space.rules.x}}",
                              files)
        self.assertEqual(answer["reply"], {"decision": "deny", "reason": "deep"})
        self.write("project/space/more.py", self.EVIL)
        self.worker = self.start()
        self.assertRefused(self.importing("import space.more", files=files), "space/more.py is not in the record")

    def test_a_namespace_package_is_refused(self):
        self.write("project/space/rules.py", self.EVIL)
        self.assertRefused(self.importing("import space"), "space is no python source")

    def test_a_folder_that_a_hook_puts_on_the_path_is_refused(self):
        self.write("project/lib/rules.py", self.EVIL)
        answer = self.importing(f"import sys; sys.path.insert(0, {str(self.project / 'lib')!r}); import rules")
        self.assertRefused(answer, "lib/rules.py is not in the record")

    def test_the_current_folder_on_the_path_is_refused(self):
        self.write("project/rules.py", self.EVIL)
        self.assertRefused(self.importing("import sys; sys.path.insert(0, ''); import rules"), "rules.py is not")
        self.worker = self.start()
        self.assertRefused(self.importing("import sys; sys.path.insert(0, '.'); import rules"), "rules.py is not")

    def test_a_zip_file_is_refused(self):
        self.project.mkdir()
        with zipfile.ZipFile(self.project / "lib.zip", "w") as archive:
            archive.writestr("rules.py", self.EVIL)
        path = str(self.project / "lib.zip")
        answer = self.importing(f"import sys; sys.path.insert(0, {path!r}); import rules")
        self.assertEqual((answer["status"], self.worker.printed()), ("failed", ""), answer)
        self.worker = self.start()
        answer = self.importing(f"import zipimport; zipimport.zipimporter({path!r}).load_module('rules')")
        self.assertRefused(answer, "lib.zip is no folder")

    def test_a_file_by_its_path_is_refused_or_loaded_as_recorded(self):
        text = """
            import importlib.util
            def check(event):
                spec = importlib.util.spec_from_file_location("rules", {path!r})
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return {{"reason": module.x}}
        """.format(path=str(self.project / "rules.py"))
        self.assertEqual(self.trusted(text, {"rules.py": "x = 'good'"})["reply"], {"reason": "good"})
        self.write("project/rules.py", self.EVIL)
        self.assertRefused(self.call(), "rules.py changed since it was trusted")
        (self.project / "rules.py").unlink()
        self.worker = self.start()
        self.write("project/rules.py", self.EVIL)
        self.assertRefused(self.trusted(text), "rules.py is not in the record")

    def test_the_loaders_and_finders_of_importlib_are_refused(self):
        self.write("project/rules.py", self.EVIL)
        pyc, py = str(self.compiled("rules", "other.pyc")), str(self.project / "rules.py")
        for statement, part in [
            (f"m.SourcelessFileLoader('other', {pyc!r}).load_module('other')", "other.pyc is not in the record"),
            (f"m.SourceFileLoader('rules', {py!r}).load_module('rules')", "rules.py is not in the record"),
            (f"f = m.FileFinder({str(self.project)!r}, (m.SourceFileLoader, ['.py'])); "
             "f.find_spec('rules').loader.load_module('rules')", "rules.py is not in the record"),
            (f"import runpy; runpy.run_path({py!r})", "not loaded from a recorded source"),
            ("import runpy; runpy.run_module('rules')", "rules.py is not in the record"),
        ]:
            with self.subTest(statement):
                self.worker = self.start()
                self.assertRefused(self.importing(f"import importlib.machinery as m; {statement}"), part)

    def test_what_runs_as_main_is_refused(self):
        self.write("project/tool/__main__.py", self.EVIL)
        answer = self.importing("import runpy; runpy.run_module('tool')", files={"tool/__init__.py": ""})
        self.assertRefused(answer, "tool/__main__.py is not in the record")

    def test_links_do_not_go_around_it(self):
        self.write("project/lib/rules.py", self.EVIL)
        (self.folder / "outside").symlink_to(self.project / "lib")
        answer = self.importing(f"import sys; sys.path.insert(0, {str(self.folder / 'outside')!r}); import rules")
        self.assertRefused(answer, "rules.py is not in the record")
        self.worker = self.start()
        self.write("away/rules.py", self.EVIL)
        (self.project / "in").symlink_to(self.folder / "away")
        answer = self.importing(f"import sys; sys.path[0] = {str(self.project / 'in')!r}; import rules")
        self.assertRefused(answer, "in/rules.py is not in the record")

    def test_a_project_that_is_reached_by_a_link_is_the_same(self):
        (self.folder / "link").symlink_to(self.project)
        through = str(self.folder / "link")
        self.assertEqual(self.trusted(DENY, paths=[through], cwd=through)["reply"], DENIED)
        self.write("project/rules.py", self.EVIL)
        self.worker = self.start()
        answer = self.importing("import rules", paths=[through], cwd=through)
        self.assertRefused(answer, "rules.py is not in the record")

    def test_a_unit_is_trusted_as_a_whole(self):
        self.write("project/.venv/lib/rules.py", "x = 'venv'")
        text = f"import sys; sys.path.append({str(self.project / '.venv/lib')!r})\nimport rules\n"
        text += "def check(event): return {'reason': rules.x}"
        self.assertRefused(self.trusted(text), "rules.py is not in the record")
        self.worker = self.start()
        self.assertEqual(self.trusted(text, units=[".venv"])["reply"], {"reason": "venv"})

    def test_folders_elsewhere_are_free(self):
        self.write("elsewhere/rules.py", "x = 'free'")
        text = "import json, dataclasses, collections, asyncio, rules\n"
        text += "T = collections.namedtuple('T', 'a b')\n"
        text += "def check(event): return {'reason': rules.x}"
        paths = [str(self.project), str(self.folder / "elsewhere")]
        self.assertEqual(self.trusted(text, paths=paths)["reply"], {"reason": "free"})

    def test_an_isolated_call_keeps_it(self):
        self.write("project/rules.py", self.EVIL)
        self.assertRefused(self.importing("import rules", fork=True), "rules.py is not in the record")


class LargeEvents(Case):
    """Values of 64 KiB and more are read when the hook asks for them."""

    def call_large(self, text: str, value: str = "", **fields: object) -> dict:
        """Call a hook with an event whose `tool_input` is this JSON, and which the engine says is large."""
        self.write("guard.py", text)
        loaded = self.load(**fields)
        self.assertEqual(loaded["status"], "ok", loaded)
        value = value or json.dumps({"command": "ls \u00e4", "edits": [{"old": "a", "new": "b"}] * 3})
        before = json.dumps({**EVENT, "tool_input": None}, ensure_ascii=False).replace("null}", "").encode()
        event = before + value.encode() + b', "after": [1, "\xc3\xa4"]}'
        places = struct.pack("<2Q", len(before), len(before) + len(value.encode()))
        return self.worker.request("call", places + event, 1, 1 + (1 << 16), 5000)

    def test_every_way_to_look_at_it_sees_the_value(self):
        for look in [
            "event['tool_input']", "event.tool_input", "event.args", "event.get('tool_input')", "dict(event)['tool_input']",
            "{**event}['tool_input']", "(lambda **e: e)(**event)['tool_input']", "event.to_dict()['tool_input']",
            "event.copy()['tool_input']", "copy.copy(event)['tool_input']", "copy.deepcopy(event)['tool_input']",
            "pickle.loads(pickle.dumps(event))['tool_input']", "json.loads(json.dumps(event))['tool_input']",
            "json.loads(event.to_json())['tool_input']", "dict(event.items())['tool_input']", "({} | event)['tool_input']",
            "(event | {})['tool_input']", "[v for v in event.values() if isinstance(v, dict)][0]",
            "event.pop('tool_input')", "event.setdefault('tool_input', 1)", "eval(repr(event))['tool_input']",
            "next(v for k, v in event.items() if k == 'tool_input')", "operator.itemgetter('tool_input')(event)",
            "crosier.HookEvent(event)['tool_input']", "{k: event[k] for k in event}['tool_input']",
            "'{tool_input}'.format_map(event) and event['tool_input']",
        ]:
            with self.subTest(look):
                answer = self.call_large(f"""
                    import copy, crosier, json, operator, pickle
                    def check(event):
                        value = {look}
                        assert value["edits"] == [{{"old": "a", "new": "b"}}] * 3, value
                        assert event["after"] == [1, "\u00e4"] and event.tool_name == "Bash"
                        return {{"reason": value["command"]}}
                """)
                self.assertEqual(answer.get("reply"), {"reason": "ls \u00e4"}, answer)

    def test_it_is_a_dict_like_any_other(self):
        self.assertEqual(self.call_large("""
            import crosier
            def check(event):
                assert isinstance(event, crosier.HookEvent) and isinstance(event, dict)
                assert "tool_input" in event and "nothing" not in event and len(event) == len(list(event))
                assert event == dict(event) and not event != dict(event)
                event["tool_input"] = 1
                event.update(more=2)
                assert event["tool_input"] == 1 and event["more"] == 2 and event.get("nothing", 3) == 3
                del event["tool_input"]
                assert "tool_input" not in event and event.tool_input is None
                try:
                    event["nothing"]
                except KeyError:
                    return {"reason": "fine"}
        """).get("reply"), {"reason": "fine"})

    def test_what_nobody_asks_for_is_not_read(self):
        self.assertEqual(self.call_large(DENY, "[" * 100_000)["reply"], DENIED)

    def test_a_value_that_cannot_be_read_is_a_delivery_failure_even_when_the_hook_catches_it(self):
        for value in ("[" * 100_000 + "]" * 100_000, "[" + "9" * 30_000 + "]"):
            self.assertFailed(self.call_large("def check(event): return event.tool_input and None", value),
                              "delivery", "'tool_input'")
            self.assertFailed(self.call_large("""
                def check(event):
                    try: event["tool_input"]
                    except BaseException: return {"decision": "allow"}
            """, value), "delivery", "'tool_input'")

    def test_a_fork_and_a_context_have_it_too(self):
        text = "def check(event, context): return {'reason': event.tool_input['command'] + str(context.pass_number)}"
        self.assertEqual(self.call_large(text, fork=True)["reply"], {"reason": "ls \u00e41"})


if __name__ == "__main__":
    unittest.main()
