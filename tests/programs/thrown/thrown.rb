# Exceptions that a callee raises, and a caller or nobody rescues.
def parse(text)
  raise ArgumentError, "bad #{text}" unless text.match?(/\A\d+\z/)
  text.to_i
end

def safe(text)
  parse(text)
rescue ArgumentError
  -1
end

def total(words)
  sum = 0
  words.each { |one| sum += safe(one) }
  raise "too big" if sum > 1000 # @too_big
  sum
end

puts total(%w[1 x 4])
begin
  puts total(%w[900 900])
rescue RuntimeError => e
  puts e.message
end
total(%w[2000])
