# Calls that an exception leaves through an ensure clause, beside calls that rescue it.
def look(text)
  Integer(text)
rescue ArgumentError
  nil
ensure
  $looked = text
end

def check(list)
  found = list.detect { |one| one > 2 }
  look("x")
  raise "nothing found" unless found
  found
ensure
  look("y")
end

def down(number)
  number < 1 ? 0 : 1 + down(number - 1)
end

def early(list)
  list.each { |one| return one if one > 1 }
ensure
  look("1")
end

check([1, 2, 3])
begin
  check([1, 2])
rescue RuntimeError
  early([1, 2, 3])
end
down(3)
