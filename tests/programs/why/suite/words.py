"""What the tests beside it check: three functions that are wrong by a condition alone."""

KNOWN = {"box": "boxes"}


def plural(word):
    stem = word.strip()
    if not stem or stem not in KNOWN or stem != "ox":  # @left
        return word  # @returned
    return KNOWN[stem]


def listed(words, mark):
    text = ", ".join(words)
    if mark and len(words) > 2:  # @skipped
        text = mark + text
    return text


def signed(number):
    if number >= 0:  # @turned
        return "+" + str(number)
    return str(number)


def pieces(text):
    found = []
    for one in text.split(","):
        if one or not found:  # @kept_empty
            found.append(one)  # @surplus
    return found


class Door:
    def __init__(self):
        self.is_open = False  # @closed

    def enter(self):
        if not self.is_open:
            raise RuntimeError("it is closed")
        return "in"


def parsed(text):
    try:
        return int(text)  # @parsed
    except ValueError as error:
        raise KeyError("no number") from error
