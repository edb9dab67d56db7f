# Moves accounts through deposits and ends with status 3.

class Account
  attr_reader :owner, :balance

  def initialize(owner, balance: 0)
    @owner = owner
    @balance = balance
  end

  def deposit(amount)
    @balance += amount # @deposit
  end
end

def calculate(i)
  square = i * i
  puts "step #{i}" # @step
  square # @return
end

def sum_to(n, account)
  total = 0 # @start
  i = 1
  while i <= n
    total += calculate(i) # @add
    account.deposit(i)
    i += 1
  end
  total # @done
end

def main
  n = (ARGV[0] || 5).to_i
  account = Account.new("ada", balance: 100) # @main
  total = sum_to(n, account) # @call
  puts "sum #{total}, #{account.owner} has #{account.balance}" # @print
  3
end

exit main if __FILE__ == $PROGRAM_NAME # @exit
