
import multiprocessing, sys, threading
lock = threading.Lock()
def work(number):
    if number == 2:
        lock.acquire()
        lock.acquire()
def fill(queue):
    queue.put("x" * 1000000)
if __name__ == "__main__" and sys.argv[1] == "pool":
    with multiprocessing.Pool(2) as pool:
        pool.map(work, [1, 2], chunksize=1)
elif __name__ == "__main__":
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=fill, args=(queue,))
    process.start()
    process.join()
