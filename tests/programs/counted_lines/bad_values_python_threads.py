
import threading

ready = threading.Barrier(501)
released = threading.Event()


def work():
    ready.wait()
    released.wait(60)


for _ in range(500):
    threading.Thread(target=work, daemon=True).start()
ready.wait()
print("ready")  # @ready
released.set()
