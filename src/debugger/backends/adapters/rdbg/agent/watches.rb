# frozen_string_literal: true

module DebuggerAgent
  # Stops when the value of an expression changes. It is evaluated after each line of the program,
  # and at each return.
  class Watches
    Watch = Struct.new(:number, :expression, :condition, :scope, :value, :text)

    def initialize
      @known = {} # data ids
      @watches = []
      @lines = {}.compare_by_identity # by fiber, the line that each of its frames ran last
      @stopped = {}.compare_by_identity # by thread, the same of the fiber that a stop has interrupted
      @trace = TracePoint.new(:line, :call, :b_call, :return, :b_return) { |trace| note_event(trace) }
    end

    attr_writer :on_change

    # The identity of a place: the expression with the scope that it is seen from.
    def identify(expression, scope)
      value = scope.eval(expression, "(watch)", 1)
      id = "#{@known.size + 1} #{expression}"
      @known[id] = [scope, value]
      id
    end

    def replace(requests)
      note_stopped_lines
      before = @watches
      @watches = requests.map do |one|
        scope, = @known.fetch(one["dataId"])
        expression = one["dataId"].partition(" ").last
        number = before.find { |old| old.scope.equal?(scope) && old.expression == expression }&.number
        value = read(scope, expression)
        Watch.new(number || DebuggerAgent.take_number, expression, one["condition"], scope, value, describe(value))
      end
      @watches.empty? ? @trace.disable : @trace.enable
      @watches.map { |one| { id: one.number, verified: true } }
    end

    # The value of a watched expression, from any frame.
    def read_value(number)
      watch = @watches.find { |one| one.number == number }
      watch && read(watch.scope, watch.expression)
    end

    def remove_all
      @watches = []
      @trace.disable
    end

    private

    # A stopped thread runs the line of its stop next; at a watchpoint's stop that line has just run.
    def note_stopped_lines
      @lines.clear
      @stopped.clear
      stops = DebuggerAgent.stops
      stops.list_threads.each do |thread|
        held = stops.find_held(thread)
        next unless held

        @stopped[thread] = held.frames.reverse.map { |one| [one.path, one.line] }
        @stopped[thread][-1] = nil if held.reason == "data breakpoint"
      end
    end

    def read(scope, expression)
      scope.eval(expression, "(watch)", 1)
    rescue Exception # rubocop:disable Lint/RescueException -- the user's expression
      nil
    end

    def describe(value)
      DebuggerAgent.values.describe(value)
    end

    def note_event(trace)
      thread = Thread.current
      return if DebuggerAgent.stops.busy?(thread) || trace.path.start_with?(FOLDER, "<internal:")

      fiber = Fiber.current
      lines = (@lines[fiber] ||= @stopped.delete(thread) || [])
      if %i[call b_call].include?(trace.event)
        lines.push(nil)
        return
      end

      changed = @watches.select { |one| changed?(one) }
      # What called a method goes on with its own line.
      written = lines.pop
      lines.push([trace.path, trace.lineno]) if trace.event == :line
      @lines.delete(fiber) if lines.empty? # it may have ended
      due = changed.select { |one| one.condition.nil? || holds?(one) }
      @on_change.call(due.map(&:number), written) unless due.empty?
    end

    def holds?(watch)
      watch.scope.eval(watch.condition, "(condition)", 1)
    rescue Exception # rubocop:disable Lint/RescueException -- the user's expression
      true
    end

    # An object that changes inside is seen by its text.
    def changed?(watch)
      value = read(watch.scope, watch.expression)
      return false if value.equal?(watch.value) && (simple?(value) || describe(value) == watch.text)

      is_new = describe(value) != watch.text
      watch.value = value
      watch.text = describe(value)
      is_new
    end

    def simple?(value)
      case value
      when nil, true, false, Numeric, Symbol then true
      else false
      end
    end
  end
end
