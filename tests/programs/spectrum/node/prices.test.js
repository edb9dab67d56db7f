"use strict";

const assert = require("node:assert");
const { describe, test } = require("node:test");
const { total } = require("./prices.js");

test("one price", () => assert.equal(total([100]), 100));

describe("several", () => {
  test("two prices", () => assert.equal(total([100, 200]), 300));

  test("many prices", () => {
    const found = total([100, 100, 100]);
    assert.equal(found, 270);
  });
});
