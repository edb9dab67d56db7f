"""Four named threads, all alive when main is at the marker."""

from __future__ import annotations

import threading

WORKERS = ("reader", "parser", "counter", "writer")

started = threading.Barrier(len(WORKERS) + 1, timeout=120)
finished = threading.Barrier(len(WORKERS) + 1, timeout=120)
results: dict[str, int] = {}


def work(name: str) -> None:
    started.wait()
    result = len(name) * 100
    results[name] = result  # @work
    finished.wait()


def main() -> None:
    threads = [threading.Thread(target=work, args=(name,), name=name) for name in WORKERS]
    for thread in threads:
        thread.start()
    started.wait()
    alive = threading.active_count()  # @all_alive
    finished.wait()
    for thread in threads:
        thread.join()
    print(f"{alive} threads, total {sum(results.values())}")  # @joined


if __name__ == "__main__":
    main()
