"""What does a program see of its interpreter, and of values that run code when they are looked at?"""
import sys, os, inspect, threading, traceback
print(sys.argv[1:], __name__, __file__, sys.modules['__main__'].__dict__.get('__spec__'))
print([p for p in sys.path][:3], sorted(k for k in os.environ if 'PYTHON' in k or 'DEBUG' in k))
print(sys.gettrace(), sys.getprofile(), threading.gettrace() if hasattr(threading,'gettrace') else None)
print(len(inspect.stack()), [f.function for f in inspect.stack()])
print(sys.getrecursionlimit(), threading.active_count())
class Odd:
    def __repr__(self): print("repr called!"); return "Odd"
    def __getattr__(self, name): print("getattr", name); raise AttributeError(name)
    def __eq__(self, other): print("eq"); return True
    def __hash__(self): print("hash"); return 1
    def __len__(self): print("len"); return 3
    def __bool__(self): print("bool"); return True
    @property
    def __class__(self): print("class"); return int
    __dict__ = property(lambda self: print("dict"))
class Meta(type):
    def __getattribute__(cls, name): print("meta", name) if name not in ("__mro__",) else None; return super().__getattribute__(name)
    def __eq__(cls, other): print("meta eq"); return False
    __hash__ = type.__hash__
class D(metaclass=Meta):
    def __init__(self): self.x = 1
class L(list):
    def __iter__(self): print("iter"); return super().__iter__()
    def __len__(self): print("len"); return 1
def take(o, d, l): 
    x = [o, d, l]
    return o
o = object.__new__(Odd)
d = type.__call__(D)
r = take(o, d, L([1, 2]))
class Gone:
    def __del__(self): print("gone")
def lets_go():
    g = Gone()
    del g
    print("after")
    g = Gone(); g = None
    print("after2")
lets_go()
def looks():
    a = 1
    before = locals()
    b = 2
    print(sorted(before), sorted(locals()))
looks()
def deep(n): return deep(n + 1)
try: deep(0)
except RecursionError as e: print("RecursionError", len(traceback.extract_tb(e.__traceback__)) > 900)
def g():
    try:
        got = yield 1
        print("got", got)
        yield 2
    except ValueError as e: print("in gen", e); yield 3
    finally: print("closed")
x = g(); print(next(x), x.send(5), x.throw(ValueError("v"))); x.close()
def tracer(frame, event, arg):
    if frame.f_code.co_name == 'traced': print(event)
    return tracer
def traced():
    y = 1
    return y
sys.settrace(tracer); print(sys.gettrace() is tracer); traced(); sys.settrace(None)
def c(frame, event, arg): 
    if frame.f_code.co_name == 'traced': print("prof", event)
sys.setprofile(c); traced(); sys.setprofile(None)
import subprocess
print(subprocess.run([sys.executable, "-c", "import sys; print(sys.path[:1], 7)"], stdout=subprocess.PIPE).stdout)
t = threading.Thread(target=traced); t.start(); t.join()
def nested():
    total = 0
    def inner(v):
        nonlocal total
        total += v
    for i in range(3): inner(i)
    return total
print(nested())
raise SystemExit(3)
