# Raises an exception and rescues it itself.

class OrderError < StandardError; end

def main
  [1, 2, 3].each do |order|
    raise OrderError, "order 3 has no items" if order > 2 # @raise
  rescue OrderError => error
    puts "caught: #{error.message}" # @catch
  end
end

main
