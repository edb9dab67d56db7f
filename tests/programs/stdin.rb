# Echoes its input in upper case, line by line, until the end of the input.

$stdout.sync = true
count = 0
puts "ready"
$stdin.each_line do |line|
  count += 1
  puts line.chomp.upcase # @read
end
puts "#{count} lines" # @eof
