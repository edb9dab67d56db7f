# frozen_string_literal: true

module DebuggerAgent
  # Records each write of one variable from the program's beginning: of `@name` in every object, of
  # `$name`, or of a local in every call. The question who-wrote reads it at a stop.
  class History
    WRITES_MAX = 20_000
    FRAMES_MAX = 6
    NONE = Object.new
    # Of each fiber, as Thread#[] keeps them: the frames of methods, blocks and class bodies that run.
    FRAMES = :__debugger_frames
    # The owner of its locals; nil for a block, whose locals are those of the call that made it.
    Frame = Struct.new(:method, :receiver, :owner, :scope, :line)
    BEGINS = %i[call b_call class].freeze
    ENDS = %i[return b_return end].freeze

    def initialize(expression)
      @expression = expression
      @setters = [:"#{expression.delete_prefix("@")}=", :instance_variable_set]
      @writes = Hash.new { |writes, owner| writes[owner] = [] }.compare_by_identity
      @texts = {}.compare_by_identity
      @stacks = {}.compare_by_identity # the frames of all fibers
      @count = 0
      # What attr_writer makes is a method of C.
      setter = expression.match?(/\A@[^@]/) ? [:c_return] : []
      @trace = TracePoint.new(:line, *BEGINS, *ENDS, *setter) { |trace| note_event(trace) }
      @trace.enable
    end

    # Write to a file, as JSON, what was written to the variable as a frame sees it, the oldest first.
    def report(receiver, path)
      frames = Thread.current[FRAMES] || []
      value = yield
      owner = if local? then find_owner(frames.last, frames, value)
              elsif @expression.start_with?("@") then receiver
              else @expression
              end
      # What the line before the stop has written. `object.name` may be of a method's own making.
      if owner.equal?(@expression) || local? || instance_variable_of?(owner)
        note_value(owner, value, frames.last&.line)
      end
      File.write(path, Json.encode({ writes: @writes[owner], isCut: @count >= WRITES_MAX }))
    end

    private

    def instance_variable_of?(object) = Kernel === object && object.instance_variable_defined?(@expression)

    def local? = @expression.match?(/\A[a-z_]/)

    def note_event(trace)
      event = trace.event
      return if event == :c_return && !@setters.include?(trace.method_id)

      thread = Thread.current
      return if @count >= WRITES_MAX || DebuggerAgent.stops&.busy?(thread) || trace.path.start_with?(FOLDER, "<internal:")

      frames = thread[FRAMES] ||= []
      @stacks[frames] = true
      # The caller's line runs until the first one of what it calls.
      # `def reset = @total = nil` has no line of its own: where it returns it has run itself.
      running = frames.last&.line || (frames[-2]&.line unless event == :return && frames.size > 1)
      if BEGINS.include?(event)
        frames << Frame.new(trace.method_id, trace.self, event == :b_call ? nil : Object.new)
      elsif frames.empty?
        frames << Frame.new(nil, trace.self, @expression)
      end
      frames.last.scope = trace.binding if local?
      owner, value = find_value(trace, frames)
      note_value(owner, value, running) unless NONE.equal?(value)
      frames.last.line = read_stack if event == :line
      frames.pop if ENDS.include?(event)
      @stacks.delete(frames) if frames.empty?
    end

    def find_value(trace, frames)
      if local?
        value = read_local(frames.last)
        return [find_owner(frames.last, frames, value), value]
      end
      return [@expression, TOPLEVEL_BINDING.eval(@expression)] if @expression.start_with?("$")

      object = trace.self
      [object, instance_variable_of?(object) ? object.instance_variable_get(@expression) : NONE]
    rescue NameError
      [nil, NONE]
    end

    def read_local(frame)
      scope = frame.scope
      scope&.local_variable_defined?(@expression) ? scope.local_variable_get(@expression) : NONE
    end

    # Whose local a frame sees: of a block the innermost call of its method that has the same value.
    def find_owner(frame, frames, value)
      return frame&.owner || @expression unless frame && frame.owner.nil?

      first = nil
      [frames, *@stacks.keys].each do |stack|
        stack.reverse_each do |one|
          next unless one.owner && one.method == frame.method && one.receiver.equal?(frame.receiver)
          return one.owner if read_local(one).equal?(value)

          first ||= one.owner
        end
      end
      first || @expression
    end

    def note_value(owner, value, line)
      text = DebuggerAgent.values.describe(value)
      old = @texts[owner]
      return if old == text || (old.nil? && value.nil?)

      @texts[owner] = text
      @count += 1
      @writes[owner] << { old: old, new: text, stack: line || read_stack }
    end

    def read_stack
      # The first frame of a fiber may be one of C, which has neither file nor line.
      (caller_locations(1, 30) || []).reject { |one| !one.path || one.path.start_with?(FOLDER, "<internal:") }
                                     .first(FRAMES_MAX)
                                     .map { |one| [one.label, one.absolute_path || one.path, one.lineno] }
    end
  end
end
