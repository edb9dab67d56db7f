# frozen_string_literal: true

module DebuggerAgent
  # Records each write of one variable from the program's beginning: of `@name` in every object, of
  # `$name`, or of a local in every call. The question who-wrote reads it at a stop.
  class History
    WRITES_MAX = 20_000
    FRAMES_MAX = 6
    NONE = Object.new
    # Of each fiber, as Thread#[] keeps them: the calls that run, and the stack of the line that runs.
    CALLS = :__debugger_calls
    BEFORE = :__debugger_before

    def initialize(expression)
      @expression = expression
      @writes = Hash.new { |writes, owner| writes[owner] = [] }.compare_by_identity
      @texts = {}.compare_by_identity
      @count = 0
      events = local? ? %i[line return b_return call] : %i[line return b_return]
      @trace = TracePoint.new(*events) { |trace| note_event(trace) }
      @trace.enable
    end

    # Write to a file, as JSON, what was written to the variable as a frame sees it, the oldest first.
    def report(receiver, path)
      owner = if local? then (Thread.current[CALLS] || []).last || @expression
              elsif @expression.start_with?("@") then receiver
              else @expression
              end
      # What the line before the stop has written. `object.name` may be of a method's own making.
      note_value(owner, yield) if owner.equal?(@expression) || local? || instance_variable_of?(owner)
      File.write(path, Json.encode({ writes: @writes[owner], isCut: @count >= WRITES_MAX }))
    end

    private

    def instance_variable_of?(object) = Kernel === object && object.instance_variable_defined?(@expression)

    def local? = @expression.match?(/\A[a-z_]/)

    def note_event(trace)
      thread = Thread.current
      return if @count >= WRITES_MAX || DebuggerAgent.stops&.busy?(thread) || trace.path.start_with?(FOLDER, "<internal:")

      calls = thread[CALLS] ||= []
      calls << Object.new if trace.event == :call
      owner, value = find_value(trace, calls)
      note_value(owner, value) unless NONE.equal?(value)
      thread[BEFORE] = read_stack if trace.event == :line
      calls.pop if trace.event == :return
    end

    def find_value(trace, calls)
      if local?
        scope = trace.binding
        known = scope&.local_variable_defined?(@expression)
        return [calls.last || @expression, known ? scope.local_variable_get(@expression) : NONE]
      end
      return [@expression, TOPLEVEL_BINDING.eval(@expression)] if @expression.start_with?("$")

      object = trace.self
      [object, instance_variable_of?(object) ? object.instance_variable_get(@expression) : NONE]
    rescue NameError
      [nil, NONE]
    end

    def note_value(owner, value)
      text = DebuggerAgent.values.describe(value)
      old = @texts[owner]
      return if old == text || (old.nil? && value.nil?)

      @texts[owner] = text
      @count += 1
      @writes[owner] << { old: old, new: text, stack: Thread.current[BEFORE] || read_stack }
    end

    def read_stack
      # The first frame of a fiber may be one of C, which has neither file nor line.
      (caller_locations(1, 30) || []).reject { |one| !one.path || one.path.start_with?(FOLDER, "<internal:") }
                                     .first(FRAMES_MAX)
                                     .map { |one| [one.label, one.absolute_path || one.path, one.lineno] }
    end
  end
end
