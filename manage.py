#!/usr/bin/env python3
"""The command line of Headrace: `manage.py up` starts everything."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    from django.core.management import execute_from_command_line

    from portal.launch.options import early

    early(sys.argv, os.environ)
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
