"""Makes what a page has to show at once: many values, threads, lines of output, and hostile texts."""

import sys
import threading

VALUES, LINES, THREADS = 10_000, 100_000, 500


class Hostile:
    def __repr__(self):
        return "<img src=x onerror=document.title='owned'>"


def prepare(done):
    values = [f"value {number}" for number in range(VALUES)]
    by_name = {"<script>document.title='owned'</script>": Hostile(), "\x1b[31mred\x1b[0m": 1}
    for _ in range(THREADS - 1):
        threading.Thread(target=done.wait, daemon=True).start()
    sys.stdout.write("".join(f"line {number}\n" for number in range(1, LINES + 1)))
    sys.stdout.flush()
    print("<b onclick=x>bold</b> \x1b[1;32mgreen\x1b[0m \x07 \u202eback", file=sys.stderr)
    print("long " + "x" * 200_000)
    return values, by_name  # @ready


if __name__ == "__main__":
    event = threading.Event()
    prepare(event)
    event.set()
