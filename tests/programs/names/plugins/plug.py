def plugged(value):
    return value * 2
