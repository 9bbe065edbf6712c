from crosier import deny


def check(event):
    if event.args.get("path") == ".env":
        return deny(".env is private")
