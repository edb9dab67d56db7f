# What is in store.

class Stock
  def initialize(counts)
    @counts = counts
  end

  def take(product, count)
    left = @counts[product] - count
    @counts[product] = left # @left
  end

  def has?(product, count)
    @counts[product] >= count
  end
end
