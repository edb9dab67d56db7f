// An invoice's sums, in cents.

function taxOf(lines, rate) {
  return lines.map((line) => Math.round(line.price * rate)).reduce((sum, one) => sum + one, 0);
}

function invoice(lines, rate) {
  const net = lines.reduce((sum, line) => sum + line.price * line.count, 0);
  const tax = taxOf(lines, rate);
  return { net, tax, gross: net + tax };
}

module.exports = { invoice };
