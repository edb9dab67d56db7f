module shop
  implicit none
  type :: item
    character(len=4) :: name
    real :: price
    integer :: count
  end type item
contains
  function total(items) result(amount)
    type(item), intent(in) :: items(:)
    real :: amount
    integer :: i
    amount = 0.0
    do i = 1, size(items)
      amount = amount + items(i)%price * items(i)%count ! @adds
    end do
  end function total ! @returns
end module shop

program main
  use shop
  implicit none
  type(item) :: items(2)
  integer, pointer :: missing => null()
  items(1) = item("pen ", 1.5, 2) ! @first
  items(2) = item("book", 10.0, 1)
  print *, total(items)
  missing = 5 ! @crashes
end program main
