"""The engine and the life of a process: forks, signals, the end of the interpreter, other loops."""

import subprocess
import sys
import textwrap

import pytest

HEAD = """
import asyncio, os, signal, sys, threading, time
import crosier
from crosier import Engine, deny
LS = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
"""


def run(code, timeout=40):
    """A fresh interpreter; what it printed."""
    program = HEAD + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout.split()


def test_the_pure_part_loads_nothing_native():
    code = "import sys, crosier; crosier.deny('x'); print('crosier._native' in sys.modules, 'asyncio' in sys.modules); "
    code += "crosier.Engine; print('crosier._native' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False", "True"], done.stderr


def test_a_fork_never_hangs_and_leaves_the_parent_alone(tmp_path):
    (tmp_path / "policy.py").write_text("def check(event):\n    return {'decision': 'deny', 'reason': 'worker'}\n")
    (tmp_path / "crosier.yaml").write_text(
        "hooks:\n  PreToolUse:\n    - {name: p, type: python, handler: policy.check}\n"
    )
    said = run(f"""
        engine = Engine.load({str(tmp_path / "crosier.yaml")!r})
        engine.hook("PreToolUse", name="d", priority=1)(lambda event: None)
        assert engine.fire_sync("PreToolUse", LS).reason == "worker"
        child = os.fork()
        if not child:
            try:
                engine.fire_sync("PreToolUse", LS)
            except crosier.Error as error:
                assert "forked" in str(error)
                new = Engine()
                new.hook("PreToolUse")(lambda event: deny("new"))
                assert new.fire_sync("PreToolUse", LS).reason == "new"
                sys.exit(7)
        assert os.waitpid(child, 0)[1] >> 8 == 7
        print(engine.fire_sync("PreToolUse", LS).reason)
    """)
    assert said == ["worker"]


def test_multiprocessing_by_fork():
    assert run("""
        import multiprocessing
        engine = Engine()
        engine.hook("PreToolUse")(lambda event: deny("x"))
        engine.fire_sync("PreToolUse", LS)
        def work(queue):
            try:
                queue.put(engine.fire_sync("PreToolUse", LS).reason)
            except crosier.Error as error:
                queue.put(str(error).partition(":")[0])
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        process = context.Process(target=work, args=(queue,))
        process.start()
        print(queue.get(timeout=20))
        process.join(20)
        print(process.exitcode)
    """) == ["forked", "0"]  # fmt: skip


@pytest.mark.parametrize("how", ["thread", "daemon", "loop", "sync"])
def test_the_interpreter_ends_with_a_fire_under_way(how):
    said = run(f"""
        engine = Engine({{"hooks": {{"PreToolUse": [{{"name": "s", "type": "command", "command": "exec sleep 63"}}]}}}})
        engine.hook("PostToolUse")(lambda event: time.sleep(60))
        def late():
            try:
                engine.fire_sync("PostToolUse" if {how!r} == "daemon" else "PreToolUse", LS, tool_response="")
            except crosier.Error as error:
                print("ended")
        def wait_for_it():
            import subprocess
            while not subprocess.run(["pgrep", "-f", "^sleep 63$"], capture_output=True).stdout:
                time.sleep(0.02)
        if {how!r} == "loop":
            async def main():
                task = asyncio.create_task(engine.fire("PreToolUse", LS))
                await asyncio.sleep(0.3)
            asyncio.run(main())
        elif {how!r} == "sync":
            try:
                engine.fire_sync("PreToolUse", LS, deadline=0.3)
            except crosier.DeadlineExceeded:
                pass
        else:
            threading.Thread(target=late, daemon=True).start()
            time.sleep(0.3) if {how!r} == "daemon" else wait_for_it()
        print("end")
    """)
    assert "end" in said
    left = subprocess.run(["pgrep", "-f", "^sleep 63$"], capture_output=True, text=True).stdout.split()
    assert not left


def test_a_signal_interrupts_fire_sync():
    assert run("""
        engine = Engine()
        engine.hook("PreToolUse")(lambda event: time.sleep(30))
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        started = time.monotonic()
        try:
            engine.fire_sync("PreToolUse", LS)
        except KeyboardInterrupt:
            print(time.monotonic() - started < 5)
    """) == ["True"]  # fmt: skip


def test_the_lock_is_free_while_it_waits():
    assert run("""
        engine = Engine({"hooks": {"PreToolUse": [{"name": "s", "type": "command", "command": "sleep 0.5"}]}})
        counted = 0
        def count():
            global counted
            while True:
                counted += 1
                time.sleep(0.001)
        threading.Thread(target=count, daemon=True).start()
        before = counted
        engine.fire_sync("PreToolUse", LS)
        print(counted - before > 50)
    """) == ["True"]  # fmt: skip


def test_uvloop():
    pytest.importorskip("uvloop")
    assert run("""
        import uvloop
        engine = Engine({"hooks": {"PreToolUse": [{"name": "c", "type": "command", "command": "true"}]}})
        engine.hook("PreToolUse", name="d")(lambda event: None)
        @engine.hook("PreToolUse", name="a")
        async def hook(event):
            await asyncio.sleep(0.01)
            return deny("uv")
        async def main():
            print((await engine.fire("PreToolUse", LS)).reason)
            with engine.messages() as messages:
                await engine.fire("PreToolUse", LS)
                print((await anext(messages))["subtype"])
        if sys.version_info >= (3, 12):
            uvloop.run(main())
        else:
            uvloop.install()
            asyncio.run(main())
    """) == ["uv", "hook_started"]  # fmt: skip


def test_trio_gets_a_clear_error_and_a_way():
    pytest.importorskip("trio")
    assert run("""
        import trio, anyio
        engine = Engine()
        @engine.hook("PreToolUse")
        async def hook(event):
            return deny("x")
        async def main():
            try:
                await engine.fire("PreToolUse", LS)
            except crosier.Error as error:
                print("trio" in str(error))
            outcome = await anyio.to_thread.run_sync(lambda: engine.fire_sync("PreToolUse", LS))
            print(outcome.reason)
        trio.run(main)
        async def anyio_main():
            print((await engine.fire("PreToolUse", LS)).reason)
        anyio.run(anyio_main)
    """) == ["True", "x", "x"]  # fmt: skip


def test_engines_do_not_leak():
    assert run("""
        import gc, weakref
        references = []
        for _ in range(50):
            engine = Engine()
            @engine.hook("PreToolUse")
            def hook(event):
                return deny("x")
            engine.fire_sync("PreToolUse", LS)
            references.append(weakref.ref(engine))
            engine.close()
            del engine, hook
        gc.collect()
        print(sum(reference() is not None for reference in references) <= 1)
    """) == ["True"]  # fmt: skip


def test_the_program():
    done = subprocess.run([sys.executable, "-m", "crosier", "--version"], capture_output=True, text=True)
    if "not beside this package" in done.stderr:
        pytest.skip("the package is not installed")
    assert done.stdout.startswith("crosier ") and done.returncode == 0


def test_a_fork_while_threads_fire_and_processes_in_the_child():
    """The child makes an engine of its own, with every kind of hook, whatever the parent's threads were doing."""
    assert run("""
        COMMAND = {"hooks": {"PreToolUse": [{"name": "c", "type": "command", "command": "true"}]}}
        engine = Engine(COMMAND)
        engine.hook("PreToolUse", name="d")(lambda event: None)
        stop = threading.Event()
        def work():
            while not stop.is_set():
                engine.fire_sync("PreToolUse", LS)
        threads = [threading.Thread(target=work) for _ in range(4)]
        [thread.start() for thread in threads]
        time.sleep(0.2)
        children = []
        for _ in range(10):
            child = os.fork()
            if not child:
                signal.alarm(15)
                new = Engine(COMMAND)
                new.hook("PreToolUse", name="d")(lambda event: None)
                async def later(event):
                    return deny("late")
                new.hook("PreToolUse", name="a")(later)
                ok = new.fire_sync("PreToolUse", LS).reason == "late"
                slow = Engine({"hooks": {"PreToolUse": [{"name": "s", "type": "command", "command": "sleep 65", "timeout": 0.2}]}})
                ok = ok and slow.fire_sync("PreToolUse", LS).reports[0].failure.kind == "timeout"
                ok = ok and asyncio.run(new.fire("PreToolUse", LS)).reason == "late"
                new.close()
                os._exit(0 if ok else 1)
            children.append(child)
            time.sleep(0.01)
        codes = [os.waitpid(child, 0)[1] for child in children]
        stop.set()
        [thread.join() for thread in threads]
        print(set(codes) == {0} or codes)
    """, timeout=90) == ["True"]  # fmt: skip


def test_nothing_of_a_forked_engine_hangs():
    said = run("""
        engine = Engine()
        scope = engine.scope("a")
        scope.hook("PreToolUse", name="h", inline=True)(lambda event: None)
        messages = engine.messages()
        engine.fire_sync("PreToolUse", LS, agent_id="a")
        def said(act):
            try:
                return act()
            except crosier.Error as error:
                return str(error).partition(":")[0]
        child = os.fork()
        if not child:
            signal.alarm(20)
            async def listen():
                return await anext(messages)
            print(said(lambda: next(messages)), said(lambda: asyncio.run(listen())), said(messages.poll))
            print(said(lambda: scope.fire_sync("PreToolUse", LS)), said(lambda: scope.hook("Stop")(print)))
            print(said(lambda: engine.scope("b")), said(engine.messages), said(lambda: engine.explain("Stop")))
            print(said(lambda: asyncio.run(engine.fire("PreToolUse", LS))))
            scope.close(); messages.close(); engine.close()
            print("left")
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert next(messages)["subtype"] == "hook_started"
        assert engine.fire_sync("PreToolUse", LS, agent_id="a").reports
    """)
    assert said == ["forked"] * 9 + ["left"]


@pytest.mark.parametrize("kind", ["async", "command", "def"])
def test_a_signal_interrupts_fire_sync_inside_a_running_loop(kind):
    assert run(f"""
        kind = {kind!r}
        engine = Engine({{"hooks": {{"PreToolUse": [{{"name": "s", "type": "command", "command": "exec sleep 66"}}]}}}} if kind == "command" else None)
        ended = threading.Event()
        async def later(event):
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()
        if kind != "command":
            engine.hook("PreToolUse", name="h")(later if kind == "async" else lambda event: time.sleep(60))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        async def main():
            threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            started = time.monotonic()
            try:
                engine.fire_sync("PreToolUse", LS)
            except KeyboardInterrupt:
                print(time.monotonic() - started < 5, kind != "async" or ended.wait(5))
        loop = asyncio.new_event_loop()
        loop.run_until_complete(main())
        import subprocess
        print(subprocess.run(["pgrep", "-f", "^sleep 66$"], capture_output=True).stdout == b"")
    """) == ["True", "True", "True"]  # fmt: skip


@pytest.mark.parametrize("kind", ["inline", "def", "async"])
def test_an_exit_of_a_hook_ends_the_program(kind):
    done = subprocess.run([sys.executable, "-c", HEAD + textwrap.dedent(f"""
        engine = Engine()
        def leave(event):
            sys.exit(9)
        async def leave_later(event):
            sys.exit(9)
        engine.hook("PreToolUse", inline={kind == "inline"})(leave_later if {kind!r} == "async" else leave)
        engine.fire_sync("PreToolUse", LS)
    """)], capture_output=True, text=True, timeout=40)  # fmt: skip
    assert done.returncode == 9, done.stderr


def test_no_lock_is_held_while_a_hook_of_another_thread_runs():
    """A hook waits for a thread that itself uses the engine in every way."""
    assert run("""
        engine = Engine()
        def use():
            engine.hook("Stop", name="x")(lambda event: None)
            engine.explain("Stop"); engine.disable("x"); engine.unregister("x")
            with engine.scope("a") as scope:
                scope.hook("Stop", name="y")(lambda event: None)
            engine.fire_sync("Stop", stop_hook_active=False)
        def outer(event):
            thread = threading.Thread(target=use)
            thread.start()
            thread.join(20)
            return deny(str(thread.is_alive()))
        for inline in (True, False):
            engine.hook("PreToolUse", name="o", inline=inline)(outer)
            print(engine.fire_sync("PreToolUse", LS).reason)
            engine.unregister("o")
    """) == ["False", "False"]  # fmt: skip


def test_a_worker_has_its_own_module_and_no_engine(tmp_path):
    """An installed package does not shadow what a worker brings, and a worker loads nothing native."""
    (tmp_path / "policy.py").write_text(
        "import sys, crosier\nfrom crosier import deny, ask, allow, inject, HookEvent, HookResult\n"
        "def check(event):\n"
        "    return deny(f\"{'crosier._native' in sys.modules} {hasattr(crosier, 'Engine')} {isinstance(event, HookEvent)}\")\n"
    )
    (tmp_path / "crosier.yaml").write_text(
        f"hooks:\n  PreToolUse:\n    - {{name: p, type: python, handler: policy.check, python: {sys.executable}}}\n"
    )
    assert run(f"""
        print(Engine.load({str(tmp_path / "crosier.yaml")!r}).fire_sync("PreToolUse", LS).reason)
    """) == ["False", "False", "True"]  # fmt: skip
