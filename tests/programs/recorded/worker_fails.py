"""One of the tasks in a pool of two processes fails."""

from concurrent.futures import ProcessPoolExecutor


def half(amount):
    return amount // 2


def score(amount, parts):
    half(amount)
    return amount / parts


def work(pair):
    return score(*pair)


def main():
    with ProcessPoolExecutor(1) as pool:
        for task in [pool.submit(work, pair) for pair in ((1, 1), (2, 1), (3, 0), (4, 2))]:
            print(task.result())


if __name__ == "__main__":
    main()
