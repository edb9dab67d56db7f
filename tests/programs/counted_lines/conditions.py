def total(items, limit):
    for item in items.all():
        if item.price > limit and len(item.parts) == 2:
            use(item)
        elif check(item, limit):
            drop(item)
        else:
            keep(item)
    while (n := more()):
        x = n
    if limit:
        def inner():
            return limit
    match limit:
        case 3:
            return 4
    return None
