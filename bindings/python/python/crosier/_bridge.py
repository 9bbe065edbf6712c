"""Python functions that the native part calls: threads for hooks, private event loops, and values for users."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Generator
from contextvars import copy_context
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


def run_on_private_loop(fire: Any, is_inside: bool) -> Any:
    """Waits for a fire with `async def` hooks on this thread, or on another one if a loop is running on this one."""
    if not is_inside:
        return run_here(fire, private_loop())
    result: list[Any] = []
    variables, loop = copy_context(), asyncio.new_event_loop()

    def work() -> None:
        try:
            result.append((True, variables.run(run_here, fire, loop)))
        except BaseException as exception:
            result.append((False, exception))
        finally:
            loop.close()

    thread = threading.Thread(target=work, name="crosier-fire", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.05)
    except BaseException:  # a signal
        try:
            loop.call_soon_threadsafe(cancel_all, loop)
        except RuntimeError:  # it has just ended
            pass
        thread.join(STOP_SECONDS)
        raise
    ok, value = result[0]
    if ok:
        return value
    raise value


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


def cancel_all(loop: Any) -> set[Any]:
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    return left


def run_here(fire: Any, loop: Any) -> Any:
    try:
        return loop.run_until_complete(fire)
    finally:
        if left := cancel_all(loop):
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))


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
