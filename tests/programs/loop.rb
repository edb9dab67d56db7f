def calculate(i)
  i * 2 # @double
end

def sum_to(n)
  sum = 0
  (1..n).each do |i|
    sum += calculate(i) # @add
    puts "step #{i}" # @step
  end
  sum
end

warn "arguments: #{ARGV.join(' ')}"
line = $stdin.gets
puts "input: #{line.chomp}" if line
puts "sum #{sum_to(5)}"
exit 3
