from crosier import deny


def check(event):
    if event.args.get("path") == "private.md":
        return deny("this file is private")
