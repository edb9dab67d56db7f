# A shop with a bug: counts are left out of the total. `ruby cart.rb crash` raises with causes.

class PriceError < StandardError; end

class Cart
  def initialize
    @lines = []
  end

  def add(name, price, count = 1)
    @lines << [name, price, count]
    self
  end

  def total
    sum = 0 # @zero
    @lines.each do |_name, price, _count|
      sum += price # @sum
    end
    sum # @total
  end

  def check
    Integer("3x") # @convert
  rescue ArgumentError
    raise PriceError, "no price in #{@lines.size} lines" # @raise
  end
end

cart = Cart.new
cart.add("apple", 3, 2).add("pear", 5)
if ARGV[0] == "crash"
  cart.check
elsif ARGV[0] == "thread"
  Thread.new { cart.check }.join
end
warn "total"
puts cart.total # @print
exit cart.total == 11 ? 0 : 3
