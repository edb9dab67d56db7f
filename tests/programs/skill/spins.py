"""What the skill debugs: waits for what never comes."""

import threading

done = threading.Event()


def work():
    while not done.wait(0.01):
        pass


threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
print("waiting", flush=True)
for thread in threads:
    thread.join()
