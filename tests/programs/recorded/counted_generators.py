"""Generators and coroutines, in a process and in its fork."""

import os
def one(n):
    return n
def each(n):
    for number in range(n):
        yield one(number)
async def wait(n):
    return n
def run(n):
    total = 0
    for number in range(n):
        total += sum(each(3))
        try:
            wait(number).send(None)
        except StopIteration as end:
            total += end.value
    return total
print(run(300))
child = os.fork()
if child:
    os.waitpid(child, 0)
else:
    run(40)
    os._exit(0)
