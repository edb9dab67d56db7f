-- Seats of a row that are taken, by their number; a person leaves now and then.
local row = {
  "Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal",
  "Ida", "Jon", "Kim", "Leo", "Mia", "Ned", "Oda", "Pia",
}
local function leaves(seat) row[seat] = nil end
local function taken()
  local count = 0
  for seat = 1, 16 do
    if row[seat] then count = count + 1 end
  end
  return count
end
leaves(12)
leaves(15)
leaves(16)
io.write("from the front: ", #row, "\n")
io.write("taken: ", taken(), "\n")
io.write("seat 13: ", tostring(row[13]), "\n")
assert(taken() == 13, "somebody is missing")
