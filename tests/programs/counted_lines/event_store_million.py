
import resource, sys
from debugger.model.events import OutputStream
from debugger.session.timeline import Filters, Timeline

def peak():
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // (2**20 if sys.platform == "darwin" else 2**10)

timeline = Timeline()
timeline.append_output(OutputStream.STDOUT, "warm\n", session="s")
timeline.lines()
before = peak()
chunk = ("x" * 99 + "\n") * 500
for _ in range(2000):
    timeline.append_output(OutputStream.STDOUT, chunk, session="s")
read = timeline.lines()
print(peak() - before, len(read.lines), read.dropped, timeline.cursor())
