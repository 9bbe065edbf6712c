def check(event):
    return None
