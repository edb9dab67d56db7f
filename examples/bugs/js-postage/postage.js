// What sending a parcel costs: a rate by zone and weight, surcharges, a reduction for many.
'use strict';

const RATES = {
  inland: [[500, 390], [2000, 590], [10000, 990]],
  near: [[500, 690], [2000, 1290], [10000, 2490]],
  far: [[500, 990], [2000, 2690], [10000, 5990]],
};
const ZONES = new Map([['DE', 'inland'], ['AT', 'near'], ['FR', 'near'], ['JP', 'far'], ['US', 'far']]);

class UnknownZone extends Error {}

function zoneOf(country) {
  const zone = ZONES.get(country);
  if (!zone) throw new UnknownZone(country);
  return zone;
}

function rate(zone, grams) {
  for (const [most, price] of RATES[zone]) {
    if (grams <= most) return price;
  }
  return null;
}

class Parcel {
  constructor(words) {
    const [country, grams, ...marks] = words.split(':');
    this.country = country;
    this.grams = Number(grams);
    this.marks = new Set(marks);
  }

  get isBulky() {
    return this.marks.has('bulky');
  }

  surcharge(zone) {
    let extra = this.marks.has('insured') ? 250 : 0;
    if (this.isBulky) extra += zone === 'inland' ? 400 : this.heavy();
    return extra;
  }

  heavy() {
    return this.grams > 5000 ? 2500 : '1200';
  }

  price() {
    const zone = zoneOf(this.country);
    const base = rate(zone, this.grams);
    if (base === null) return 0;
    return base + this.surcharge(zone);
  }
}

function reduced(total, count) {
  return count >= 10 ? Math.round(total * 0.95) : total;
}

function main(words) {
  const parcels = words.map((one) => new Parcel(one));
  const total = parcels.reduce((sum, one) => sum + one.price(), 0);
  const due = reduced(total, parcels.length);
  console.log(`${parcels.length} parcels: ${(due / 100).toFixed(2)}`);
  // No parcel costs more than 120.00.
  if (due > parcels.length * 12000) {
    console.error('the sum cannot be right');
    process.exitCode = 1;
  }
}

main(process.argv.slice(2));
