# Threads that take jobs from a queue until they get `:done`.

class Workers
  def initialize(count)
    @jobs = Queue.new
    @threads = Array.new(count) { |number| Thread.new { work(number) } }
  end

  def add(job)
    @jobs << job
  end

  def finish
    @jobs << :done # for one of them alone
    @threads.each(&:join) # @joins
  end

  private

  def work(_number)
    while (job = @jobs.pop) != :done # @pops
      job.call
    end
  end
end
