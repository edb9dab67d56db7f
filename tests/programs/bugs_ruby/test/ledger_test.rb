require "minitest/autorun"
require_relative "../lib/ledger"

class LedgerTest < Minitest::Test
  def test_balance
    assert_equal 5, Ledger.new.load("ada;5").balance
  end

  def test_accounts_are_apart
    ledger = Ledger.new.load("ada;5\nbob;7")
    names = %w[ada bob]
    sums = names.map { |name| ledger.sum(name) }
    assert_equal [5, 7], sums # @fails
  end
end
