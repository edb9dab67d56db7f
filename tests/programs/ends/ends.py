import sys
total = 0
def add(n):
    global total
    for i in range(n):
        total += i
def stop(code):
    why = code * 2
    sys.exit(code)
add(5)
if len(sys.argv) > 1:
    stop(3)
print(total)
total += 1
