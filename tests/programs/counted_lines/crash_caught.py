
import time
RATES = {"DE": 1}
def rate(land):
    return RATES[land]
def main(land, stays):
    while True:
        try:
            int("3"); rate(land)
        except KeyError:
            pass
        if not stays: break
        time.sleep(0.01)
if __name__ == "__main__":
    import sys
    print("here", flush=True)
    main("XX", len(sys.argv) > 1)
