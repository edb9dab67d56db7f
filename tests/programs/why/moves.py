def moved():
    rows = [0, 0, 7, 0]
    rows.pop(0)
    rows[0] = 0
    rows.insert(0, 0)
    rows.reverse()
    del rows[0]
    return rows
def sorted_rows():
    rows = [0, 0, 7]
    rows[1] = 0
    rows.sort()
    return rows
def turned():
    rows = [4, 4, 4]
    rows[1] = 4
    rows.append(rows.pop(0))
    return rows
moved(), sorted_rows(), turned()
