class Registry
  @entries = {}
  DEFAULTS = { limit: 5, tags: [] }

  class << self
    attr_reader :entries

    def fetch(name)
      key = name[0, 2]
      @entries[key] ||= { name: name, size: name.size }
    end
  end
end

class Account
  attr_accessor :owner, :balance
  attr_reader :log

  def initialize(owner, balance = 0, log: [])
    @owner = owner
    @balance = balance
    @log = log
  end

  def deposit(amount)
    @balance += amount
    note("deposit", amount)
  end

  def pay(other, amount)
    @balance -= amount
    other.balance += amount
  end

  private

  def note(kind, amount)
    @log << { kind: kind, amount: amount }
  end
end

def options_for(extra = {})
  options = Registry::DEFAULTS
  options[:tags] << extra[:tag] if extra[:tag]
  options.merge(extra)
end

def parse(line)
  name, count = line.split(";")
  { name: name, count: count }
end

def average(values)
  sum = 0
  values.each { |one| sum += one }
  sum / values.size
end

def largest(values)
  best = values.first
  values.each do |one|
    best = one if one > best
  end
  best
end

def window(rows, size)
  found = []
  i = 0
  while i < rows.size - size
    found << rows[i, size].sum
    i += 1
  end
  found
end

def counter
  count = 0
  step = -> (by) { count += by }
  step.call(2)
  step.call(-5)
  count
end

Registry.fetch("alpha")
entry = Registry.fetch("almond")
size = entry[:size]
puts "size #{size}"  # @mark1

options_for(tag: "a")
tags = options_for(limit: 1)[:tags]
puts "tags #{tags}"  # @mark2

line = parse("fig")
count = line[:count]
puts "count #{count.inspect}"  # @mark3

mean = average([1, 2])
puts "mean #{mean}"  # @mark4

best = largest(["9", "10"])
puts "best #{best}"  # @mark5

sums = window([1, 2, 3, 4], 2)
last = sums.last
puts "last #{last}"  # @mark6

left = counter
puts "left #{left}"  # @mark7

ann = Account.new("Ann")
bob = Account.new("Bob", 10)
bob.pay(ann, 4)
ann.deposit(3)
money = ann.balance
puts "money #{money}"  # @mark8

title = "report"
copy = title
copy << "!"
puts "title #{title}"  # @mark9

begin
  begin
    Integer("x1")
  rescue ArgumentError
    raise KeyError, "no number"
  end
rescue KeyError => error
  message = error.message
end
puts "message #{message}"  # @mark10

sorted = [3, 1, 2].sort { |a, b| b <=> a }
first = sorted.first
puts "first #{first}"  # @mark11

grid = Array.new(2, [0, 0])
grid[0][1] = 7
cell = grid[1][1]
puts "cell #{cell}"  # @mark12

def twice(number) = number * 2
double = twice(4)
puts "double #{double}"  # @mark13

spent = 0
thread = Thread.new { [3, 4].each { |one| spent += one } }
thread.join
puts "spent #{spent}"  # @mark14

fiber = Fiber.new do |start|
  got = Fiber.yield start
  spent = got - 1
end
fiber.resume(1)
fiber.resume(6)
puts "spent #{spent}"  # @mark15

stock = Hash.new([])
stock[:pens] << "blue"
inks = stock[:inks]
puts "inks #{inks}"  # @mark16

# The writer has no line of its own, and the operand at fault is a call's result.
Weighed = Struct.new(:inner, :grams) do
  def clear! = self.grams = nil
end

def by_piece(one, factor) = one.grams && one.grams * factor
box = Weighed.new(Weighed.new(nil, 4), 25)
box.clear!
label = "grams: " + by_piece(box, 2).to_s
puts label  # @mark17

# A copy has the fields of the object that it was made of.
class Tagged
  attr_accessor :size, :tag

  def initialize(size) = @size = size

  def tagged(tag)
    copy = dup
    copy.tag = tag
    copy
  end
end
tagged = Tagged.new(nil).tagged("x")
puts "tagged #{tagged.size}"  # @mark18
