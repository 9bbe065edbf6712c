from crosier import deny


def check(event):
    if event.args.get("path") == "diary.md":
        return deny("a diary is private")
