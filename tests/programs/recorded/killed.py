import os, signal
def f(n):
    if n == 3: os.kill(os.getpid(), 9)
    return n
for i in range(9): f(i)
