"""What a kilowatt-hour costs, and whom it costs less."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Tier:
    """A price, in pence, for each kWh up to a bound; the last tier has none."""

    up_to: int | None
    pence: float


@dataclass
class Tariff:
    """A standing charge, in pence, and tiers in rising order."""

    name: str
    standing: int
    tiers: list[Tier]

    def energy(self, kwh: int) -> float:
        """Price a month's consumption, in pence, without the standing charge."""
        pence = 0.0
        below = 0
        for tier in self.tiers:
            top = kwh if tier.up_to is None else min(kwh, tier.up_to)
            if top > below:
                pence += (top - below) * tier.pence
                below = top
        return pence


@dataclass(frozen=True)
class Contract:
    """What was agreed with a customer: a discount in percent, free kWh in each month."""

    number: str
    discount: int = 0
    free: int = 0


STANDARD = Tariff("standard", 900, [Tier(100, 32.0), Tier(500, 27.0), Tier(None, 24.0)])
NIGHT = Tariff("night", 1100, [Tier(300, 22.0), Tier(None, 18.5)])
TARIFFS = {tariff.name: tariff for tariff in (STANDARD, NIGHT)}


def agreed(name: str, contract: Contract) -> Tariff:
    """Make the tariff of one contract out of a published one.

    Raises: KeyError for a tariff that was never published.
    """
    tariff = replace(TARIFFS[name], name=f"{name} {contract.number}")
    if contract.discount:
        tariff.tiers = [
            replace(tier, pence=tier.pence * (100 - contract.discount) / 100)
            for tier in tariff.tiers
        ]
    if contract.free:
        tariff.tiers.insert(0, Tier(contract.free, 0.0))
    return tariff
