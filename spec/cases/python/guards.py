"""What a hook may be, and what it may return."""

import asyncio
import functools
import json
import os
import sys

from crosier import HookEvent, HookResult, allow, ask, deny, inject


# --- Functions and what else can be called ---------------------------------------------------------------------------

def denies(event):
    return {"decision": "deny", "reason": f"{event.tool_name} is not allowed"}


async def awaits(event):
    await asyncio.sleep(0)
    return deny("awaited")


class Guard:
    def __init__(self, word="made"):
        self.word = word

    def __call__(self, event):
        return deny(self.word)


class AsyncGuard:
    async def __call__(self, event):
        await asyncio.sleep(0)
        return deny("awaited in __call__")


def among(names, event):
    return deny(f"{event.tool_name} is one of {len(names)}") if event.tool_name in names else None


async def later_among(names, event):
    return among(names, event)


instance = Guard("an instance")
async_instance = AsyncGuard()
method = Guard("a method").__call__
bound = functools.partial(among, ["Bash", "Write"])
async_bound = functools.partial(later_among, ["Bash"])
anonymous = lambda event: deny("a lambda")


def with_context(event, context):
    return deny(f"{context.hook} {context.phase} {0 < context.remaining <= 20} {context.cancelled}")


def in_two_phases(event, context):
    if context.phase == 1:
        return {"async": True, "asyncTimeout": 20}
    return deny(f"phase {context.phase}")


# --- The event -------------------------------------------------------------------------------------------------------

def fields(event):
    assert isinstance(event, HookEvent) and event.tool_name == event["tool_name"] == event.tool
    assert event.tool_input is event["tool_input"] is event.args
    assert event.permission_mode is None and "permission_mode" not in event
    plain = event.to_dict()
    assert type(plain) is dict and plain == event and json.loads(event.to_json()) == plain
    names = "hook_event_name hook_type session_id agent_id orchestrator_id cwd tool_name".split()
    return deny("; ".join(f"{name}={getattr(event, name)}" for name in names))


def times(event):
    moment = event.timestamp
    return deny(f"{type(moment).__name__} {moment.isoformat()} {moment.tzinfo} {type(event['timestamp']).__name__}")


def result(event):
    return {"systemMessage": f"{event.tool_output!r} {event.tool_response!r} {event.tool_input!r}"}


def wrong_field(event):
    return event.tool_nam


def changes_its_copy(event):
    event["tool_input"]["command"] = "rm -rf /"


# --- What it returns -------------------------------------------------------------------------------------------------

def nothing(event):
    return None


def empty(event):
    return {}


def default_result(event):
    return HookResult()


def says_allow(event):
    return {"decision": "allow"}


def allows(event):
    return allow("it is safe")


def asks(event):
    return ask("are you sure?")


def not_allowed(event):
    return HookResult(allowed=False, reason="not allowed")


def hostless(event):
    """Rewrites what it got: the hook before it is seen."""
    return {"updated_input": {**event.args, "url": event.args["url"].replace("http://", "https://"), "seen": 1}}


def counted(event):
    return HookResult(updated_input={**event.args, "seen": event.args.get("seen", 0) + 1})


def says_input(event):
    return {"systemMessage": json.dumps(event.args, sort_keys=True)}


def appends(event):
    return inject("see also the manual")


def adds_message(event):
    return inject("stop soon", "user_message")


def appends_both(event):
    both = [{"content": "one", "strategy": "tool_result"}, {"content": "two", "strategy": "user_message"}]
    return {"inject": both}


def claude(event):
    inner = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "as Claude says it"}
    return {"hookSpecificOutput": inner}


def armament(event):
    return {"abort": True, "reason": "as Armament says it"}


def in_snake_case(event):
    return HookResult(system_message="first", additional_context="second")


def halts(event):
    return HookResult(continue_=False, stop_reason="enough")


# --- Where it runs ---------------------------------------------------------------------------------------------------

def prints(event):
    print('{"decision": "allow"}')
    print("7\n{}", file=sys.stderr)
    os.write(1, b"\xff\x00 raw noise\n")
    os.system("echo from a child")
    return deny("printed")


def where(event):
    return deny(f"{os.path.basename(os.getcwd())} {os.getcwd() in sys.path}")


def variables(event):
    secret = [name for name in os.environ if name.endswith(("_KEY", "_TOKEN", "_SECRET")) or "PASSWORD" in name]
    return deny(f"{os.environ.get('GUARD_MODE')} {secret} {os.path.basename(os.environ['CROSIER_PROJECT_DIR'])}")


def uses_json(event):
    return deny(json.dumps({"standard": "library"}))


def flags(event):
    return deny(f"{sys.flags.isolated} {sys.flags.no_user_site}")


calls = []


def remembers(event):
    calls.append(event.tool_name)
    return {"systemMessage": str(len(calls))}
