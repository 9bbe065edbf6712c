"""A command hook that does not come back."""

import time

time.sleep(60)
