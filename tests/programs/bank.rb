# A bank whose fee overdraws an account, called from another class than the one that looks.
class Account
  attr_accessor :balance
  def initialize(b) = @balance = b
  def deposit(n)
    @balance += n
  end
  def fee
    @balance -= 30 # @fee
  end
end
class Bank
  def initialize
    @acc = Account.new(50)
  end
  def day(n)
    @acc.deposit(n)
    @acc.fee
  end
  def check
    x = @acc.balance # @look
    puts x
  end
  def run
    [20, 10, 5].each do |n|
      day(n)
      check
    end
  end
end
Bank.new.run
