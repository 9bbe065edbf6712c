"""Takes its process along while it is imported, on purpose."""

import os

os._exit(0)
