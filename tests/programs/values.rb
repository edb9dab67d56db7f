# Values of many shapes and sizes, all of them locals at the marker.

class Item
  def initialize(number)
    @number = number
    @name = "item #{number}"
  end
end

class Hostile
  def inspect
    raise "no text for you"
  end
end

Order = Struct.new(:number, :items, :note)

def main
  items = Array.new(200) { |number| Item.new(number) }
  nested = { user: { name: "ada", tags: %w[x y] }, 7 => [1, 2], [1, 2] => { deep: { er: 1 } } }
  many = (0...100_000).to_a
  table = many.to_h { |number| ["key #{number}", number] }
  itself = [1, 2]
  itself << itself
  big = "x" * 10_000_000
  hostile = Hostile.new
  order = Order.new(1, %w[apple pear])
  range = 1..5
  raw = "\x00\xFFbytes".b
  text = "tab\tnewline\nquote\" snowman \u2603"
  symbol = :ready
  nothing = nil
  empty = []
  puts [items, nested, many, table, itself, big].map(&:size).join(" ") # @ready
  puts [hostile.class, order, range, raw.size, text.size, symbol, nothing, empty].inspect
end

main
