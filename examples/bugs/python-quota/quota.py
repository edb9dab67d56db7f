"""Uploads of several customers at once, each within the space that the customer has paid for."""

import threading
from dataclasses import dataclass, field


@dataclass
class Account:
    name: str
    limit: int
    used: int = 0
    files: dict = field(default_factory=dict)


class Quotas:
    def __init__(self, accounts):
        self.accounts = {one.name: one for one in accounts}
        self.lock = threading.Lock()

    def room(self, name):
        with self.lock:
            account = self.accounts[name]
            return account.limit - account.used

    def used(self, name):
        with self.lock:
            return self.accounts[name].used

    def note(self, name, used):
        with self.lock:
            self.accounts[name].used = used


class Store:
    """Takes files in pieces; every piece is counted, so that an upload can be broken off."""

    def __init__(self, quotas, turnstile):
        self.quotas = quotas
        self.turnstile = turnstile

    def upload(self, name, file, pieces):
        account = self.quotas.accounts[name]
        for piece in pieces:
            if self.quotas.room(name) < len(piece):
                return False
            self.append(account, file, piece)
        return True

    def append(self, account, file, piece):
        used = self.quotas.used(account.name)
        self.turnstile.write(account, file, piece)
        self.quotas.note(account.name, used + len(piece))


class Disk:
    """Writes to one disk; two uploads of one account come in step, as on a slow line."""

    def __init__(self, together):
        self.together = together
        self.lock = threading.Lock()

    def write(self, account, file, piece):
        barrier = self.together.get(file)
        if barrier is not None:
            barrier.wait(10)
        with self.lock:
            account.files[file] = account.files.get(file, b"") + piece


def main():
    both = threading.Barrier(2)
    quotas = Quotas([Account("abel", 5000), Account("brandt", 900)])
    store = Store(quotas, Disk({"a.jpg": both, "b.jpg": both}))
    plan = [
        ("abel", "notes.txt", [b"n" * 300, b"n" * 200]),
        ("abel", "a.jpg", [b"a" * 400, b"a" * 400, b"a" * 100]),
        ("abel", "b.jpg", [b"b" * 700, b"b" * 700, b"b" * 300]),
        ("brandt", "c.txt", [b"c" * 500, b"c" * 500]),
    ]
    store.upload(*plan[0])
    threads = [threading.Thread(target=store.upload, args=one, name=one[1]) for one in plan[1:]]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    wrong = 0
    for account in quotas.accounts.values():
        stored = sum(map(len, account.files.values()))
        print(f"{account.name}: {account.used} counted, {stored} stored")
        wrong += account.used != stored
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
