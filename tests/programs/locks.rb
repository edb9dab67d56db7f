# Ends never: `mutexes` taken in two orders, `queues` that nobody fills, a `signal` that nobody gives,
# or a `ractor` that gives nothing.
class Account
  attr_reader :lock

  def initialize
    @lock = Mutex.new
  end

  def move(other, met)
    @lock.synchronize do
      met << true
      sleep 0.01 until met.size == 2
      other.lock.synchronize { puts "moved" }
    end
  end
end

case ARGV.first
when "mutexes"
  a, b, met = Account.new, Account.new, Queue.new
  threads = [Thread.new { a.move(b, met) }, Thread.new { b.move(a, met) }]
  threads.each(&:join)
when "queues"
  work, done = Queue.new, Queue.new
  Thread.new { done << work.pop }
  p done.pop
when "signal"
  lock, opened, is_open = Mutex.new, ConditionVariable.new, false
  Thread.new { loop { sleep 0.1 } }
  lock.synchronize { opened.wait(lock) until is_open }
when "ractor"
  Ractor.new { Ractor.receive }.take
end
