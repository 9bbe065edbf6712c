"""A command hook that is not careful with its stdout."""

print("checking …")
print('{"decision": "deny"}')
