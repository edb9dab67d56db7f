# Keeps a shop's books: `ruby shop.rb load FILE`, `sums FILE`, `balance FILE`, `sell` or `close`.

require_relative "lib/ledger"
require_relative "lib/stock"
require_relative "lib/workers"

def sell(orders, stock)
  orders.count do |product, count|
    next false unless stock.has?(product, 1) # not the order's count

    stock.take(product, count) # @take
    true
  end
end

def close
  workers = Workers.new(2)
  workers.add(-> { puts "closed" })
  workers.finish # @finish
end

command, file = ARGV
case command
when "load" then puts Ledger.new.load(File.read(file)).balance
when "sums"
  ledger = Ledger.new.load(File.read(file))
  puts ledger.sum("ada"), ledger.sum("bob")
when "balance"
  ledger = Ledger.new.load(File.read(file))
  ledger.correct("ada", 20)
  puts ledger.balance # @balance
when "sell" then puts sell([["pear", 3], ["pear", 4], ["plum", 20], ["pear", 5]], Stock.new({ "pear" => 10, "plum" => 40 }))
when "close" then close
end
