class Row:
    def __init__(self, number):
        self.number = number  # @field


def fill(rows, at):
    rows[at % 50] = Row(at % 7)
    return rows[at % 50]


def main():
    rows = [None] * 50
    for at in range(1_800):
        row = fill(rows, at)
        print(row.number)  # @hit


main()
