#!/bin/sh
# Finds the bug of examples/billing with six commands; `debugger` must be on the PATH.
set -eu
cd "$(dirname "$0")/billing"
export PYTHONDONTWRITEBYTECODE=1
trap 'debugger stop >/dev/null 2>&1 || true' EXIT

run() {
    printf '\n$ debugger'
    for word in "$@"; do
        case $word in *[!A-Za-z0-9_./:=-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
    debugger "$@"
}

echo "# Abbey Bakery used 700 kWh and should pay 236.40, but its invoice says 181.80. Why?"
run start report.py --break report.py:71
echo "# Its contract has neither a discount nor free kWh. What prices does it get?"
run print tariff.tiers
echo "# 150 kWh for nothing are not its own. Who changes the list that everybody shares?"
run break tariff.py:62 --condition 'tariff.tiers is TARIFFS[name].tiers'
run restart
echo "# Contract C-1008 does, Rosewood Hospice's. Give it a list of its own, and see the bakery again:"
run set tariff.tiers 'list(tariff.tiers)'
run continue
echo "# 197.00 and 20% VAT are the 236.40 that it should pay."
echo "The bug: agreed() copies a tariff with replace(), which shares the list of tiers; free kWh are inserted into everybody's."
