"""A pytest plugin: MassGen's tests import `massgen.mcp_tools.hooks`, and get Crosier's names.

MASSGEN_SOURCE names the unpacked package. Its `__init__` modules are left out: they import the whole framework.
"""

import importlib
import os
import sys
from types import ModuleType

import crosier.massgen

SOURCE = os.environ["MASSGEN_SOURCE"]
for name in ("massgen", "massgen.mcp_tools", "massgen.utils", "massgen.subagent"):
    package = ModuleType(name)
    package.__path__ = [os.path.join(SOURCE, *name.split("."))]
    sys.modules[name] = package

logger = ModuleType("massgen.logger_config")
logger.logger = __import__("logging").getLogger("massgen")
sys.modules["massgen.logger_config"] = logger

hooks = importlib.import_module("massgen.mcp_tools.hooks")
THEIRS = {name: getattr(hooks, name) for name in crosier.massgen.__all__}
for name in crosier.massgen.__all__:
    setattr(hooks, name, getattr(crosier.massgen, name))


def pytest_sessionfinish():
    assert hooks.GeneralHookManager is crosier.massgen.GeneralHookManager
