import multiprocessing


def work(number):
    result = 10 // number
    try:
        return 1 // (result - 10)
    except ZeroDivisionError:
        return 0


if __name__ == "__main__":
    both = [multiprocessing.Process(target=work, args=(number,)) for number in (1, 2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
