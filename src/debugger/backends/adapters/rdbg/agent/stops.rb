# frozen_string_literal: true

module DebuggerAgent
  # A thread that waits in its own code: `jobs` are run there, and nil lets it go on.
  Held = Struct.new(:frames, :jobs, :reason, :error, :returned, :is_step)

  # Stops the program: one thread reports a stop, and each other is held at its next line.
  #
  # One `turn` exists: whoever has it may report. No mutex, since a signal's handler may stop, too.
  class Stops
    def initialize(connection)
      @connection = connection
      @held = {}.compare_by_identity
      @turn = Queue.new
      @turn << true
      @is_stopped = false
      @numbers = {}.compare_by_identity
      @last_number = 0
      @holder = TracePoint.new(:line) { hold_current }
      @births = TracePoint.new(:thread_begin) { enable(@holder) if @is_stopped }
    end

    attr_reader :is_stopped
    # Called at the end of a step, for the answers that its report reads.
    attr_writer :on_step

    # Whether a thread is in code of ours, or runs an expression of the user's.
    def busy?(thread)
      @held.key?(thread) || AGENT_THREADS.include?(thread)
    end

    # Stops the current thread until the debugger lets it go on. Returns what it was held as.
    def stop(reason, frames, event = {}, **facts)
      thread = Thread.current
      return if busy?(thread) || DebuggerAgent.is_detached

      hold(frames, facts) until take_turn
      return if DebuggerAgent.is_detached

      held = @held[thread] = Held.new(frames, Queue.new, reason, facts[:error], facts[:returned], facts[:is_step])
      @is_stopped = true
      watch_others
      body = { reason: reason, threadId: number_of(thread), allThreadsStopped: true }
      body[:answers] = @on_step.call(thread) if reason == "step"
      @connection.send_event("stopped", body.merge(event))
      run_jobs(held)
      held
    ensure
      @held.delete(thread)
    end

    # Lets all threads go on.
    def resume
      [@holder, @births].each { |one| one.disable if one.enabled? }
      @is_stopped = false
      going = @held.values
      @turn << true if @turn.empty?
      going.each { |one| one.jobs << nil }
    end

    # Runs a block on a held thread, in its own context; false where the thread is not held.
    def run_on(thread, &job)
      held = @held[thread]
      return false unless held

      thread == Thread.current ? job.call : held.jobs << job
      true
    end

    def find_held(thread)
      @held[thread]
    end

    def frames_of(thread)
      held = @held[thread]
      held ? held.frames : Frames.read_locations(thread)
    end

    def list_threads
      Thread.list.reject { |one| AGENT_THREADS.include?(one) }
    end

    def find_thread(number)
      list_threads.find { |one| number_of(one) == number }
    end

    def number_of(thread)
      @numbers[thread] ||= (@last_number += 1)
    end

    private

    # Each line of the agent's own threads is slower by such a trace point, too: without other threads
    # of the program it waits until an expression makes one.
    def watch_others
      enable(@births)
      enable(@holder) if list_threads.size > 1
    end

    def enable(trace)
      trace.enable unless trace.enabled?
    end

    def take_turn
      @turn.pop(true)
    rescue ThreadError
      nil
    end

    def hold_current
      hold(Frames.capture, {}) unless busy?(Thread.current)
    end

    # Another thread has stopped the program: this one waits with it.
    def hold(frames, facts)
      thread = Thread.current
      held = @held[thread] = Held.new(frames, Queue.new, nil, facts[:error], facts[:returned])
      # Checked once it is listed: a resume in between has not seen it.
      @is_stopped ? run_jobs(held) : Thread.pass
    ensure
      @held.delete(thread)
    end

    def run_jobs(held)
      while (job = held.jobs.pop)
        job.call
      end
    end
  end
end
