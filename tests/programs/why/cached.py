CACHE = {}


def load(region, year):
    return {"region": region, "year": year, "rate": 19 if region == "north" else 7}


def rates(region, year):
    key = str(year)
    if key not in CACHE:
        CACHE[key] = load(region, year)
    return CACHE[key]


def price(region, year, net):
    entry = rates(region, year)
    rate = entry["rate"]
    return net * (100 + rate) / 100


price("north", 2020, 100)
wrong = price("south", 2020, 100)
print(wrong)
