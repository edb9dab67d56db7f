# Blocks that are called when the method that made them has returned. The argument chooses which.
class Cart
  attr_reader :rule

  def initialize
    @rule = ->(n) do
      10 / n
    end
  end

  def price(k) = rule.call(k)

  def shared(k)
    rule.(k)
  end
end

def each_half(all)
  all.each { |one| yield one, 2 }
end

zero = "".size # @zero
case ARGV[0]
when "attribute" then Cart.new.price(zero)
when "short" then Cart.new.shared(zero)
when "yield" then each_half([4, zero]) { |n, half| puts half / n }
end
