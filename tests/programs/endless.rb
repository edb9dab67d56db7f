# Counts until `running` is set to false, or for 120 seconds.

DEADLINE = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 120

def count
  running = true
  counter = 0
  while running && Process.clock_gettime(Process::CLOCK_MONOTONIC) < DEADLINE
    counter += 1 # @count
  end
  counter
end

$stdout.sync = true
puts "counting" # @start
count
puts "done" # @done
