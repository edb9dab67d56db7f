# Writes an instance variable from several methods.

class Meter
  def initialize
    @level = 0
  end

  def fill
    @level = 3 # @first
    raise_by(4)
    spill
  end

  def raise_by(amount)
    @level += amount # @second
  end

  def spill
    @level = 1 # @third
  end
end

meter = Meter.new
meter.fill # @fill
puts "done"
