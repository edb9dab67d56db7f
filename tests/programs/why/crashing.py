import json

SETTINGS = json.loads('{"retries": null, "delay": 2}')


class Client:
    def __init__(self, settings):
        self.retries = settings.get("retries")
        self.delay = settings["delay"]

    def wait(self):
        total = 0
        for attempt in range(self.retries):
            total += self.delay * attempt
        return total


def main():
    client = Client(SETTINGS)
    print(client.wait())


main()
