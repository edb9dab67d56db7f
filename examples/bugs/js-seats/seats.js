// Sells the seats of a hall: a seat is looked for, paid, and booked.
'use strict';

const turn = () => new Promise((resolve) => setImmediate(resolve));

class Bank {
  constructor() {
    this.paid = [];
  }

  async charge(customer, euros) {
    // A bank takes its time: longer for those it does not know yet.
    for (let asked = customer.isKnown ? 1 : 3; asked > 0; asked--) {
      await turn();
    }
    this.paid.push({ customer: customer.name, euros });
    return this.paid.length;
  }
}

class Hall {
  constructor(rows, perRow) {
    this.booked = new Map();
    this.seats = [];
    for (let row = 0; row < rows; row++) {
      for (let number = 1; number <= perRow; number++) {
        this.seats.push(`${'ABC'[row]}${number}`);
      }
    }
  }

  firstFree(wanted) {
    const free = this.seats.filter((seat) => !this.booked.has(seat));
    return free.find((seat) => seat.startsWith(wanted)) ?? free[0];
  }

  book(seat, customer, receipt) {
    this.booked.set(seat, { customer: customer.name, receipt });
    return seat;
  }
}

class Office {
  constructor(hall, bank) {
    this.hall = hall;
    this.bank = bank;
    this.tickets = [];
  }

  price(seat) {
    return { A: 40, B: 30, C: 20 }[seat[0]];
  }

  async sell(customer) {
    const seat = this.hall.firstFree(customer.wants);
    const receipt = await this.bank.charge(customer, this.price(seat));
    this.hall.book(seat, customer, receipt);
    this.tickets.push({ seat, name: customer.name });
    return seat;
  }
}

async function main() {
  const office = new Office(new Hall(3, 4), new Bank());
  const customers = [
    { name: 'Ines', wants: 'B', isKnown: true },
    { name: 'Jan', wants: 'A', isKnown: false },
    { name: 'Kaya', wants: 'C', isKnown: true },
    { name: 'Lou', wants: 'A', isKnown: true },
    { name: 'Mo', wants: 'B', isKnown: false },
  ];
  for (const customer of customers.slice(0, 1)) {
    await office.sell(customer);
  }
  await Promise.all(customers.slice(1).map((customer) => office.sell(customer)));
  for (const { seat, name } of office.tickets) {
    console.log(`${name}: ${seat}`);
  }
  if (office.hall.booked.size !== office.tickets.length) {
    console.log(`${office.tickets.length} tickets for ${office.hall.booked.size} seats`);
    process.exitCode = 1;
  }
}

main();
