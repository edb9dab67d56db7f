"""Runs cells in a Jupyter kernel: FILE CELL..., each with the name of its error, or its text."""

import sys

from jupyter_client import BlockingKernelClient

client = BlockingKernelClient(connection_file=sys.argv[1])
client.load_connection_file()
client.start_channels()
client.wait_for_ready(timeout=60)


def show(message):
    content = message["content"]
    if message["msg_type"] == "execute_result":
        print(content["data"]["text/plain"])
    elif message["msg_type"] == "error":
        print(content["ename"])


for cell in sys.argv[2:]:
    client.execute_interactive(cell, output_hook=show, timeout=100)
client.stop_channels()
