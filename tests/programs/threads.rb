# Four named threads, all alive when main is at the marker.

WORKERS = %w[reader parser counter writer]

def work(name, started, finished, results)
  started << name
  result = name.size * 100
  results[name] = result # @work
  finished.pop
end

def main
  started = Queue.new
  finished = Queue.new
  results = {}
  threads = WORKERS.map do |name|
    thread = Thread.new { work(name, started, finished, results) }
    thread.name = name
    thread
  end
  WORKERS.each { started.pop }
  alive = Thread.list.size # @all_alive
  WORKERS.each { finished << true }
  threads.each(&:join)
  puts "#{alive.positive?} threads, total #{results.values.sum}" # @joined
end

main
