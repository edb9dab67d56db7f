# Entries of accounts, and their sums.

class LedgerError < StandardError; end

class Ledger
  attr_reader :balance

  def initialize
    @entries = Hash.new([]) # one array for all that have none
    @balance = 0
  end

  def load(text)
    text.each_line(chomp: true).with_index(1) do |line, number|
      book(*parse(line))
    rescue ArgumentError
      raise LedgerError, "bad entry in line #{number}" # @wrapped
    end
    self
  end

  def book(account, cents)
    @entries[account] <<= cents
    @balance += cents # @booked
  end

  def correct(account, cents)
    @entries[account] <<= cents
    @balance = cents # @corrected
  end

  def sum(account)
    total = 0
    @entries[account].each do |cents|
      total += cents # @summed
    end
    total
  end

  private

  def parse(line)
    account, cents = line.split(";")
    [account, Integer(cents)] # @parsed
  end
end
