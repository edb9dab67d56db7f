# frozen_string_literal: true

module DebuggerAgent
  # Steps one thread by trace points on lines, calls and returns.
  #
  # A step knows how deep it is below the frame that it began in: `depth` counts calls and returns.
  # 1. Over: it ends at the next line at depth 0.
  # 2. Into: it ends at the next other line at any depth.
  # 3. Out: it ends as soon as the frame returns, in the caller, whose line is the call's. So does
  #    any step over or into at the end of a method; one at the end of a block goes to its next turn.
  # Events of another fiber do not count, unless the step's own fiber has ended.
  class Stepping
    EVENTS = %i[line call b_call class return b_return end raise].freeze
    # `unwound` is the depth of the frame that an exception is leaving; nil while none does.
    Step = Struct.new(:kind, :path, :line, :height, :depth, :is_left, :left_block, :fiber, :unwound, :trace)

    def initialize
      @steps = {}.compare_by_identity
      @deferred = {}.compare_by_identity
      @unwinding = {} # by the place where a step ended, whether an exception is leaving its frame
      @paths = Hash.new { |paths, path| paths[path] = File.expand_path(path) }
      gems = $LOADED_FEATURES.grep(%r{/rubygems\.rb\z}).map { |path| path.delete_suffix(".rb") }
      @skipped = ["<internal:", "(eval", FOLDER, *gems.flat_map { |path| ["#{path}.rb", "#{path}/"] }]
    end

    # Called with the frames, and the value that the function returned.
    attr_writer :on_end

    # Begins a step on the current thread, which is stopped at a frame, or where an exception is raised.
    def begin_step(kind, frame, is_unwinding)
      cancel(Thread.current)
      is_unwinding ||= in_ensure?(frame) && @unwinding.fetch([frame.path, frame.line]) { $! } # rubocop:disable Style/SpecialGlobalVars
      @unwinding.clear
      unwound = 0 if is_unwinding
      step = Step.new(kind, frame&.path, frame&.line, frame&.height, 0, false, nil, Fiber.current, unwound)
      step.trace = TracePoint.new(*EVENTS) { |trace| note_event(step, trace) }
      @steps[Thread.current] = step
      step.trace.enable(target_thread: Thread.current)
    end

    # A breakpoint has stopped the thread: its step is over. Returns the step.
    def cancel(thread)
      @deferred.delete(thread)
      step = @steps.delete(thread)
      step&.trace&.disable
      step
    end

    def cancel_all
      @steps.keys.each { |thread| cancel(thread) }
    end

    # Whether a step has left its end to the breakpoint's event at the same line.
    def take_deferred(thread)
      @deferred.delete(thread)
    end

    private

    def note_event(step, trace)
      # A step from a signal's handler begins within our own code, and Ruby's for trace points.
      return if trace.path.start_with?(FOLDER, "<internal:trace_point>") || !in_fiber?(step)

      case trace.event
      when :line then note_line(step, trace)
      when :call, :class, :b_call then note_call(step, trace)
      when :raise then step.unwound = step.depth
      else note_return(step, trace)
      end
    end

    def in_fiber?(step)
      return true if Fiber.current.equal?(step.fiber)
      return false if step.fiber.alive?

      step.fiber = Fiber.current
      step.depth = 0
      step.is_left = true
    end

    def note_line(step, trace)
      note_handler(step) if step.unwound && step.depth <= step.unwound
      return if @skipped.any? { |prefix| trace.path.start_with?(prefix) }

      is_other = step.is_left || trace.lineno != step.line || @paths[trace.path] != step.path
      ends = case step.kind
             when :in then is_other || step.depth != 0
             when :over then step.depth <= 0 && is_other
             else step.is_left && step.depth <= 0
             end
      return unless ends

      frames = Frames.capture
      @unwinding[[frames.first&.path, frames.first&.line]] = !step.unwound.nil?
      end_step(frames)
    end

    # An exception goes on behind an ensure clause; at any other line it has been rescued.
    def note_handler(step)
      code = FrameCapture.capture_frames.find { |one| one.iseq && !one.iseq.path.start_with?(FOLDER) }
      step.unwound = in_ensure?(code) ? step.depth : nil
    end

    # An ensure clause has a frame of its own on the way of an exception, and of a `return` in a block.
    def in_ensure?(frame)
      frame&.iseq&.label.to_s.start_with?("ensure in ")
    end

    def note_call(step, trace)
      return if trace.event == :b_call && next_turn?(step, trace)

      step.left_block = nil
      step.depth += 1
    end

    # The next turn of a block is no deeper than the one before, though its caller is in C. A thread
    # that was paused may have been past its frame's own return.
    def next_turn?(step, trace)
      if step.height
        step.is_left = step.depth.zero? && FrameCapture.capture_frames.size - 1 < step.height
        step.height = nil
        return true if step.is_left
      end
      step.depth.zero? && step.left_block == [trace.path, trace.lineno]
    end

    def note_return(step, trace)
      step.height = nil
      step.depth -= 1
      return if step.depth >= 0

      step.depth = 0
      step.is_left = true
      step.left_block = trace.event == :b_return ? block_start(trace) : nil
      return if step.unwound || (step.kind != :out && trace.event != :return)

      # Still in the frame that returns: its caller is shown.
      frames = Frames.capture
      left = frames.shift
      end_step(frames, [left.name, trace.return_value]) if frames.any?
    end

    def block_start(trace)
      code = FrameCapture.capture_frames.find { |one| one.iseq && !one.iseq.path.start_with?(FOLDER) }
      code && [trace.path, code.iseq.first_lineno]
    end

    def end_step(frames, returned = nil)
      thread = Thread.current
      cancel(thread)
      if returned.nil? && DebuggerAgent.breakpoints.find_site(frames.first)
        @deferred[thread] = true
      else
        @on_end.call(frames, returned)
      end
    end
  end
end
