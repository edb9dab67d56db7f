import heapq
from collections import deque
from itertools import count


def shortest(graph, start):
    push, pop = heapq.heappush, heapq.heappop
    numbers = count()
    fringe, found = [], {}
    push(fringe, (0, next(numbers), start))
    while fringe:
        distance, _, node = pop(fringe)
        if node in found:
            continue
        found[node] = distance
        for other, cost in graph[node].items():
            step = distance + cost
            push(fringe, (step, next(numbers), other))
    return found


def spread(graph, start):
    waiting = deque([(start, 0)])
    depths = {}
    while waiting:
        node, depth = waiting.popleft()
        depths.setdefault(node, depth)
        for other in graph[node]:
            if other not in depths:
                waiting.append((other, depth + 1))
    return depths


def walk(graph, start):
    stack, order = [start], []
    while stack:
        node = stack.pop()
        order.append((node, len(order)))
        stack.extend(sorted(graph[node], reverse=True))
    places = {}
    for node, place in order:
        places.setdefault(node, []).append(place)
    return places


def rank(names, points):
    rows = []
    for at, (name, point) in enumerate(zip(names, points)):
        bonus = point * 2
        rows.append((name, bonus))
    best = sorted(rows, key=lambda row: -row[1])
    top = []
    for name, score in best:
        top.append(score)
    return top[0]


def main():
    graph = {"a": {"b": 4, "c": 1}, "b": {}, "c": {"b": 2}}
    found = shortest(graph, "a")
    depths = spread(graph, "a")
    places = walk({"a": ["b"], "b": []}, "a")
    far, deep = found["b"], depths["b"]
    place = places["b"][0]
    score = rank(["ann", "bob"], [3, 5])
    print(far, deep, place, score)


main()
