type Shop = ref object
  shade: int

proc check(value: int) =
  if value > 50:
    raise newException(ValueError, "too much") # @raises

proc visit(shop: Shop) =
  try:
    check(100)
  except ValueError:
    shop.shade = 2 # @shades
  echo shop.shade # @checks
  check(shop.shade + 60)

visit(Shop(shade: 1))
