import sys


def check(width):
    if width != 600:
        sys.exit(f"width {width}, not 600")  # @exit


width = 55 * 10  # @width
check(width)
