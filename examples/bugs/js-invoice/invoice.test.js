const assert = require("node:assert");
const { describe, it } = require("node:test");
const { invoice } = require("./invoice.js");

describe("an invoice", () => {
  it("has a tax", () => {
    assert.deepStrictEqual(invoice([{ price: 1000, count: 1 }], 0.2).tax, 200);
  });

  it("taxes each piece", () => {
    const lines = [{ price: 1000, count: 3 }, { price: 250, count: 2 }];
    const { net, tax, gross } = invoice(lines, 0.2);
    assert.strictEqual(gross, 4200);
  });
});
