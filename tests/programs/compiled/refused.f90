program refused
  implicit none
  real(8) :: prices(3)
  integer :: total, place, status
  total = 0
  prices = 10.0d0
  do place = 1, 3
    total = total + int(prices(place)) ! @adds
  end do
  open (10, file="/nosuch/file", status="old", iostat=status)
  prices(2) = 21.0d0 ! @prices
  if (total > 20) error stop "too much" ! @raises
end program
