"""Asks several services for prices at once, and waits for the answers of all."""

import asyncio
import json


class Broker:
    """Matches answers to questions by their number."""

    def __init__(self, transport):
        self._transport = transport
        self._replies = {}
        self._next = 1

    async def ask(self, topic, **details):
        number = self._next
        self._next += 1
        reply = asyncio.get_running_loop().create_future()
        self._replies[number] = reply
        message = {"id": number, "topic": topic, **details}
        await self._transport.send(json.dumps(message))
        return await reply

    def received(self, text):
        message = json.loads(text)
        reply = self._replies.pop(message["id"], None)
        if reply is not None and not reply.done():
            reply.set_result(message["body"])


class Transport:
    """Stands for a network: what is sent is answered a little later, in another order."""

    def __init__(self, services):
        self._services = services
        self._queue = asyncio.Queue()
        self._listener = None

    def listen(self, listener):
        self._listener = listener

    async def send(self, text):
        await self._queue.put(text)

    async def pump(self):
        while True:
            message = json.loads(await self._queue.get())
            service = self._services[message["topic"]]
            answer = {"id": message["id"], "body": service(message)}
            if message.get("via"):
                answer = forwarded(answer, message["via"])
            self._listener(json.dumps(answer))


def forwarded(answer, via):
    """Mark an answer that came by a relay."""
    return {**answer, "id": str(answer["id"]), "via": via}


def price_of(message):
    return {"item": message["item"], "cents": 100 + 7 * len(message["item"])}


def stock_of(message):
    return {"item": message["item"], "left": 40 - len(message["item"])}


async def quote(broker, item):
    price = await broker.ask("price", item=item)
    stock = await broker.ask("stock", item=item, via="depot" if len(item) > 5 else "")
    return f"{item}: {price['cents']} cents, {stock['left']} left"


async def offer(broker, items):
    quotes = [asyncio.create_task(quote(broker, item), name=f"quote-{item}") for item in items]
    return await asyncio.gather(*quotes)


async def main():
    transport = Transport({"price": price_of, "stock": stock_of})
    broker = Broker(transport)
    transport.listen(broker.received)
    pump = asyncio.create_task(transport.pump(), name="pump")
    for line in await offer(broker, ["bolt", "nut", "washer", "screw"]):
        print(line)
    pump.cancel()


if __name__ == "__main__":
    asyncio.run(main())
