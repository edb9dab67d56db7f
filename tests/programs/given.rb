class Acc
  attr_accessor :total
  def thrice(a)
    b = a
    b * 3
  end
  def each(list) = list.each { |one| yield one }
  def work
    total = thrice(2)
    each([1]) { |one| total += one; thrice(one) }
    @total = thrice(total)
  end
end
acc = Acc.new
acc.work
acc.total = 7
p acc
