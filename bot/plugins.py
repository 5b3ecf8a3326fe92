"""Find the plug-ins of one folder: modules that end in a constant such as ENGINE, COMMAND, FACT or PROBE."""

import importlib
import pkgutil
from types import ModuleType

from bot.errors import PermanentError


def load(package: ModuleType, constant: str) -> dict[str, object]:
    """Return {module name: constant} for every module of `package` that defines `constant`, in name order.

    Modules whose name starts with an underscore are skipped; any other module without the constant is an error when
    the package sets `EVERY_MODULE_IS_A_PLUGIN = True`.
    """
    found: dict[str, object] = {}
    strict = getattr(package, "EVERY_MODULE_IS_A_PLUGIN", False)
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda i: i.name):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if hasattr(module, constant):
            found[info.name] = getattr(module, constant)
        elif strict:
            raise PermanentError(f"{module.__name__} defines no {constant}")
    return found
