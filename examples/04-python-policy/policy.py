"""A policy for shell commands: what is refused, what a person decides, what is done in a safer way."""
import shlex

from crosier import HookResult, ask, deny

INSTALLERS = {"pip", "pip3", "npm", "cargo"}


def check(event):
    line = event.args["command"]
    try:
        words = shlex.split(line)
    except ValueError:
        return ask("this line cannot be read as a shell command")
    if "sudo" in words:
        return deny("no sudo here: ask for the permission that you need")
    if any(sign in line for sign in ";|&`$()<>\n"):
        return ask("more than one simple command")
    if words[:2] == ["git", "push"]:
        return ask("a push leaves this machine")
    if words[:1] == ["rm"]:
        files = shlex.join(word for word in words[1:] if not word.startswith("-"))
        return HookResult(updated_input={**event.args, "command": f"mkdir -p .trash && mv {files} .trash/"},
                          system_message="Nothing is deleted here; it lies in .trash now.")
    if words and words[0] in INSTALLERS and "install" in words:
        return ask(f"{words[0]} runs code of others")
    return None  # no opinion
