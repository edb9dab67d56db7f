import os, sys
def work(n): return n * 2
work(1)
pid = os.fork()
if pid == 0:
    work(21); print("child"); sys.stdout.flush(); os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if hasattr(os,'waitstatus_to_exitcode') else os.WEXITSTATUS(os.waitpid(pid,0)[1]))
sys.stdout.flush()
os.execv(sys.executable, [sys.executable, "-c", "def q(): return 9\nprint(q())"])
