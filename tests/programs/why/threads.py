import threading

MODE = "safe"


def configure(mode):
    global MODE
    MODE = mode


def worker():
    configure("fast")


def main():
    thread = threading.Thread(target=worker, name="tuner")
    thread.start()
    thread.join()
    mode = MODE
    print(mode)


main()
