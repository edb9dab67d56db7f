"""Ends by an exception that was raised from another one."""

from __future__ import annotations

PRICES = {"apple": 3, "pear": 4}


def price_of(name: str) -> int:
    return PRICES[name]  # @key_error


def total(names: list[str]) -> int:
    amount = 0
    for name in names:
        try:
            amount += price_of(name)
        except KeyError as error:
            raise ValueError(f"no price for {name!r}") from error  # @value_error
    return amount


def main() -> None:
    basket = ["apple", "pear", "quince"]
    print(total(basket[:2]), flush=True)  # @fine
    print(total(basket))  # @fails


if __name__ == "__main__":
    main()
