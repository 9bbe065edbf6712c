"""Python functions that the native part calls: threads for hooks, private event loops, and values for users."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Generator
from queue import Empty, SimpleQueue
from types import coroutine
from typing import Any

from ._gates import Allow, Ask, Deny, Gate, Halt, Proceed, Resume

LOG = logging.getLogger("crosier")
MAX_IDLE, IDLE_SECONDS, STOP_SECONDS = 16, 10.0, 10.0


class Record(dict):  # type: ignore[type-arg]
    """A dict whose keys are also attributes."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"it has no {name!r}; it has {', '.join(self)}") from None


def record(value: Any) -> Any:
    """Converts dicts, at any depth, to records."""
    if isinstance(value, dict):
        return Record((key, record(item)) for key, item in value.items())
    return [record(item) for item in value] if isinstance(value, list) else value


def plain(value: Any) -> Any:
    """Converts records, at any depth, to dicts."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def gate(outcome: Any) -> Gate:
    """The outcome as one value. A denial or halt never becomes permission to continue."""
    if (halt := outcome.halt) is not None:
        return Halt(halt.get("reason") or "", halt.get("by") or "")
    if outcome.denied:
        return Deny(outcome.reason or "denied", outcome.by or "")
    if (resume := outcome.resume) is not None:
        return Resume(resume.get("reason") or "", resume.get("by") or "")
    value = outcome.updated_input
    if value is None:
        value = outcome.updated_output
    if outcome.decision == "ask":
        return Ask(outcome.reason, value)
    return Allow(value) if outcome.decision == "allow" else Proceed(value)


def restore_outcome(fields: dict[str, Any]) -> Any:
    """Unpickles an outcome."""
    from ._native import Outcome

    return Outcome(**{name: record(value) for name, value in fields.items()})


def log_failure(exception: BaseException) -> None:
    """Logs the traceback of a hook that failed; the outcome has only one line of it."""
    if LOG.isEnabledFor(logging.INFO):
        LOG.info("a hook raised %s", type(exception).__name__, exc_info=exception)


# --- Threads ---------------------------------------------------------------------------------------------------------
# Daemon threads of Python: an interpreter that exits does not wait for a hook that is late.


class Worker:
    """A thread that runs one hook after the other, and ends when it is idle."""

    def __init__(self, job: Any) -> None:
        self.jobs: SimpleQueue[Any] = SimpleQueue()
        self.jobs.put(job)
        threading.Thread(target=self.work, name="crosier-hook", daemon=True).start()

    def work(self) -> None:
        while True:
            try:
                job = self.jobs.get(timeout=IDLE_SECONDS)
            except Empty:
                try:
                    IDLE.remove(self)
                except ValueError:  # somebody has just taken it
                    continue
                return
            run(job)
            del job
            if len(IDLE) >= MAX_IDLE:
                return
            IDLE.append(self)


def run(job: Any) -> None:
    """One call of a hook. No native frame is below it."""
    try:
        result = job.variables.run(job.function, *job.arguments)
        if hasattr(type(result), "__await__"):
            result = job.variables.run(asyncio.run, finish(result))
    except BaseException as exception:
        job.failed(exception)
    else:
        job.done(result)


async def finish(awaitable: Any) -> Any:
    return await awaitable


IDLE: list[Worker] = []


def submit(job: Any) -> None:
    """Passes a call to an idle thread or a new one, so that no hook waits for a late one."""
    try:
        worker = IDLE.pop()
    except IndexError:
        Worker(job)
    else:
        worker.jobs.put(job)


# --- Loops -----------------------------------------------------------------------------------------------------------

LOOPS = threading.local()


def resolve(future: Any) -> None:
    """Resumes the task that waits for this future."""
    if not future.done():
        future.set_result(None)


def run_on_private_loop(fire: Any) -> Any:
    """Waits for a fire with `async def` hooks on this thread, where no loop runs."""
    return run_here(fire, private_loop())


class OtherLoop:
    """A loop on a thread of its own, for the `async def` hooks of one fire that waits on the thread of a running loop."""

    thread: threading.Thread | None = None
    loop: Any = None

    def start(self, job: Any) -> Callable[[], Any]:
        """Starts a hook's coroutine. What is returned cancels it."""
        if self.thread is None:
            self.loop = asyncio.new_event_loop()
            self.thread = threading.Thread(target=self.work, name="crosier-fire", daemon=True)
            self.thread.start()
        tasks: list[Any] = []
        loop = self.loop

        def begin() -> None:
            tasks.append(loop.create_task(complete(job)))

        def cancel() -> None:
            for task in tasks:
                task.cancel()

        loop.call_soon_threadsafe(begin, context=job.variables)
        return lambda: loop.call_soon_threadsafe(cancel)

    def work(self) -> None:
        try:
            self.loop.run_forever()
        finally:
            end_tasks(self.loop)
            self.loop.close()

    def close(self) -> None:
        """Cancels what still runs, and waits for it."""
        if self.thread is not None:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join(STOP_SECONDS)


async def complete(job: Any) -> None:
    """One call of a hook, on a loop."""
    try:
        result = job.function(*job.arguments)
        if hasattr(type(result), "__await__"):
            result = await result
    except BaseException as exception:
        job.failed(exception)
    else:
        job.done(result)


class PrivateLoop:
    """The event loop of a thread, for fires outside of any other loop. It is closed when the thread ends."""

    def __init__(self) -> None:
        self.loop, self.process = asyncio.new_event_loop(), os.getpid()

    def __del__(self, process_id: Any = os.getpid) -> None:
        if self.process == process_id():
            self.loop.close()


def private_loop() -> Any:
    own = getattr(LOOPS, "own", None)
    if own is None or own.loop.is_closed() or own.process != os.getpid():
        own = LOOPS.own = PrivateLoop()
    return own.loop


def end_tasks(loop: Any) -> None:
    """Cancels what is left on a loop, and waits for it."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))


def run_here(fire: Any, loop: Any) -> Any:
    try:
        return loop.run_until_complete(fire)
    finally:
        end_tasks(loop)


def cancel(steps: Any, waiting: Any) -> None:
    """Cancels a hook's coroutine that nobody waits for any more. What it awaits in a `finally` continues as a task."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        steps.close()
        return
    if waiting is not None:
        waiting.cancel()
    try:
        yielded = steps.throw(asyncio.CancelledError())
    except BaseException:
        return  # it is done
    rest: Any = go_on  # a generator, which `coroutine` makes awaitable
    task = loop.create_task(rest(steps, yielded))
    LEFT.add(task)
    task.add_done_callback(LEFT.discard)
    task.add_done_callback(lambda task: task.cancelled() or task.exception())


LEFT: set[Any] = set()


@coroutine
def go_on(steps: Any, yielded: Any) -> Generator[Any, Any, None]:
    """Runs the rest of a coroutine that has yielded this."""
    while True:
        thrown, value = None, None
        try:
            value = yield yielded
        except BaseException as exception:
            thrown = exception
        try:
            yielded = steps.send(value) if thrown is None else steps.throw(thrown)
        except StopIteration:
            return


def end() -> None:
    """Called on the main thread when the interpreter exits."""
    LOOPS.__dict__.clear()


def forked() -> None:
    """Called in the child of a fork, where the threads do not exist."""
    IDLE.clear()
    LOOPS.__dict__.clear()
