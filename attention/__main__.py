"""``python -m attention`` is the command ``attention-stages``."""

import sys

from attention.launch.command import main

if __name__ == "__main__":
    sys.exit(main())
