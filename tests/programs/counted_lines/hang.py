
import asyncio, queue, re, sys, threading
from concurrent.futures import ThreadPoolExecutor
class Box:
    def __init__(self):
        self.lock = threading.Lock()
def move(source, target, barrier):
    with source.lock:
        barrier.wait()
        with target.lock:
            pass
def locks():
    one, two, barrier = Box(), Box(), threading.Barrier(2)
    pairs = [(one, two), (two, one)]
    threads = [
        threading.Thread(target=move, args=(*pair, barrier), name=f"mover-{at}")
        for at, pair in enumerate(pairs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
def again():
    lock = threading.RLock()
    held = threading.Event()
    def hold():
        lock.acquire()
        held.set()
        threading.Event().wait()
    threading.Thread(target=hold, name="holder", daemon=True).start()
    held.wait()
    lock.acquire()
def busy():
    low, high, rounds = 2, 3, 0
    while low < high:
        rounds += 1
async def fetch():
    reply = asyncio.get_running_loop().create_future()
    return await reply
async def serve():
    await asyncio.gather(asyncio.create_task(fetch(), name="fetcher"))
def take():
    jobs = queue.Queue()
    jobs.get()
def drain():
    jobs = queue.Queue()
    jobs.put(1)
    jobs.join()
def pool():
    executor = ThreadPoolExecutor(1)
    def inner():
        reply = executor.submit(int)
        return reply.result()
    executor.submit(inner).result()
def match():
    re.match("(a+)+$", "a" * 60 + "!")
async def take_in_turn(first, second):
    async with first:
        await asyncio.sleep(0.01)
        async with second:
            pass
async def cross():
    left, right = asyncio.Lock(), asyncio.Lock()
    await asyncio.gather(take_in_turn(left, right), take_in_turn(right, left))
def tasks():
    asyncio.run(cross())
what = {"locks": locks, "again": again, "busy": busy, "take": take}
what |= {"drain": drain, "pool": pool, "match": match, "tasks": tasks}
print("here", flush=True)
asyncio.run(serve()) if sys.argv[1] == "future" else what[sys.argv[1]]()
