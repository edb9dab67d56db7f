# frozen_string_literal: true

module DebuggerRecorder
  # A call of one of the program's own functions, or a file's or a block's code.
  Call = Struct.new(:number, :function, :path, :method, :names, :owner, :outer, :lines, :is_base, :last, :changed, :raised, :has_record, :doubt, :is_block)

  # Records a process by TracePoint, as an order wants it.
  class Recorder
    FOLDER = __dir__
    SKIPPED = %r{/(?:gems|vendor|rubygems|site_ruby|vendor_ruby)/|\A<internal:|\A\(eval}.freeze
    STACK = 8
    MODULE_NAME = Module.instance_method(:name)
    MODULE_TEXT = Module.instance_method(:to_s)

    def initialize(order)
      @order = order
      @roots = order[:root]
      @mode = order[:mode]
      @journal = Journal.new(order[:folder], order[:events], is_last: origin?)
      @history = History.new(@journal) if origin?
      @functions = {}
      @begins_lines = {} # of each function
      @own = {}
      @counts = Hash.new(0)
      @hit_lines = {}
      @calls = 0
      @steps = 0
      @hits = 0
      @fault = false
      @began = now
      @threads = {}
      @stacks = {}.compare_by_identity # with the fiber of each
      Values.text_max = order[:text]
      Values.items_max = order[:items]
    end

    def start
      @trace = TracePoint.new(*events) { |point| handle(point) }
      @trace.enable
    end

    def events
      origin? ? %i[line call return b_call b_return raise] : %i[line call return raise]
    end

    def origin?
      @mode == "origin"
    end

    # Ends the recording of a process that this one was forked from.
    def stop
      @trace&.disable
    end

    # Writes all records; nothing is recorded any more.
    def finish
      return if @is_over

      @is_over = true
      @trace&.disable
      note_end
      hits = @hit_lines.map { |function, lines| ["h", function, lines.keys, lines.values] }
      further = @counts.select { |_, count| count > @order[:each] }
      ends = further.flat_map { |one, count| [["k", one, 0], ["K", one, count - @order[:each]]] }
      total = @counts.sum { |_, count| count }
      @journal.write([*hits, *ends, ["end", now - @began, @journal.dropped, total, total]])
    end

    def describe(is_fork: false)
      words = [RbConfig.ruby, $PROGRAM_NAME, *ARGV]
      text = Values.encode(words)
      head = %({"pid":#{Process.pid},"parent":#{Process.ppid},"language":"ruby","interpreter":"ruby #{RUBY_VERSION}",) +
             %("words":#{text},"is_fork":#{is_fork},"time_ns":#{Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond)}})
      @journal.keep_text(%(["begin",#{head}]))
    end

    private

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    end

    def handle(point)
      path = point.path
      unless own?(path)
        # A library's exception may leave the call, or be rescued there: Ruby does not say which.
        stack.last.doubt = point.raised_exception if point.event == :raise && stack.last
        return
      end

      case point.event
      when :line then pass_line(point, path)
      when :call then enter(point, path)
      when :return then leave(point, path)
      when :b_call then enter_block(point, path)
      when :b_return then leave_block(point, path)
      when :raise then note_raised(point, path)
      end
    rescue StandardError => error
      # The recorder's own fault is none of the program's.
      @journal.keep("n", "fault", 0, "#{error.class}: #{error.message}") unless @fault
      @fault = true
    end

    def own?(path)
      found = @own[path]
      return found unless found.nil?

      full = File.expand_path(path)
      full = File.realpath(full) if File.exist?(full)
      is_own = !SKIPPED.match?(below(full)) && !path.start_with?("<internal:", "(eval") && !full.start_with?(FOLDER) &&
               @roots.any? { |root| full.start_with?(root) } && File.file?(full)
      @own[path] = is_own ? full : false
    end

    def below(full)
      root = @roots.select { |one| full.start_with?(one) }.max_by(&:size)
      root ? "/#{full[root.size..]}" : full
    end

    # The calls of the fiber that runs.
    def stack
      Thread.current[:debugger_calls] ||= [].tap do |calls|
        @stacks.delete_if { |one, _| one.empty? }
        @stacks[calls] = Fiber.current
      end
    end

    # The call that an event belongs to: a block's, the method's, or the file's code.
    def call_of(point, path)
      calls = stack
      method = point.method_id
      top = calls.last
      return top if top && top.path == path && top.method == method

      at = calls.rindex { |one| one.path == path && one.method == method }
      if at
        # What is above is a file's code, which is over, or a method that called a block.
        end_base(calls.pop) while calls.size > at + 1 && calls.last.is_base
        return calls[at]
      end
      is_file = method.nil? && !block_runs?(path)
      push(point, path, is_file ? "<main>" : name_block(point), is_file ? 1 : point.lineno, method, is_base: true)
    end

    # Tells whether the code of a file that runs is in a block, as what a thread or a fiber begins with is.
    def block_runs?(path)
      caller_locations.find { |one| one.path == path }&.label&.include?("block ")
    end

    def name_block(point)
      point.method_id.nil? ? "block in <main>" : "block in #{name_method(point)}"
    end

    # `maker` is the call whose block a thread or a fiber begins with. A thread is begun where the block
    # stands, and a fiber where that call goes on with it.
    def push(point, path, name, line, method, is_base: false, arguments: [], maker: nil)
      calls = stack
      parent = calls.last
      function = function_number(own?(path), name, line)
      @counts[function] += 1
      has_record = origin? || (@counts[function] <= @order[:each] && !@journal.full?)
      @calls += 1
      call = Call.new(@calls, function, path, method, nil, "L#{@calls}", nil, 0, is_base, 0, nil, nil, has_record)
      calls << call
      if has_record
        pairs = arguments.map { |key, value| origin? ? [key, Values.format(value), @history.number(value)] : [key, Values.format(value)] }
        caller_number = parent ? nearest_recorded(calls) : maker&.number || 0
        caller_line = maker && !@threads.key?(Thread.current) ? line : (parent || maker)&.last || 0
        @journal.add("c", call.number, caller_number, function, thread_number, now - @began, caller_line, pairs)
        @journal.add("o", call.number, @history.number(point.self)) if origin? && method
      end
      call
    end

    def nearest_recorded(calls)
      found = calls[0..-2].reverse_each.find(&:has_record)
      found ? found.number : 0
    end

    def function_number(path, name, line)
      @functions[[path, name, line]] ||= begin
        number = @functions.size + 1
        @journal.keep("f", number, name, path, line)
        number
      end
    end

    def thread_number
      @threads[Thread.current] ||= begin
        number = @threads.size + 1
        @journal.keep("t", number, number == 1 ? "main" : "thread #{number}")
        number
      end
    end

    def name_method(point)
      owner = point.defined_class
      return point.method_id.to_s if owner.nil? || [Object, Kernel].include?(owner)
      return "#{class_name(Module === point.self ? point.self : owner)}.#{point.method_id}" if owner.singleton_class?

      "#{class_name(owner)}##{point.method_id}"
    end

    # The program may define `self.name` or `self.to_s` of its classes for something else.
    def class_name(type)
      MODULE_NAME.bind_call(type) || MODULE_TEXT.bind_call(type)
    end

    # A file's code is over if a library calls the program's functions, as at_exit does.
    def end_files
      while (base = stack.last)&.is_base
        return if caller_locations(3).any? { |one| one.path == base.path && one.label.include?("<") }

        record_end(stack.pop, nil)
      end
    end

    def enter(point, path)
      end_files
      arguments = read_arguments(point)
      call = push(point, path, name_method(point), point.lineno, point.method_id, arguments: arguments)
      note_hit(point, call) if origin? && entered_place?(point)
      pass_line(point, path) unless begins_lines?(point, call)
    end

    # The body of `def reset = @total = 0` begins no line (Ruby 3.1): its call is its statement.
    def begins_lines?(point, call)
      found = @begins_lines[call.function]
      return found unless found.nil?

      code = RubyVM::InstructionSequence.of(point.defined_class.instance_method(point.method_id))
      @begins_lines[call.function] = code.nil? || code.trace_points.any? { |_, event| event == :line }
    rescue NameError, TypeError # one that was removed or renamed while it runs
      @begins_lines[call.function] = true
    end

    def read_arguments(point)
      frame = point.binding
      point.parameters.filter_map do |_, name|
        [name.to_s, frame.local_variable_get(name)] if name && frame.local_variable_defined?(name)
      end
    rescue NameError
      []
    end

    def leave(point, path)
      calls = stack
      at = calls.rindex { |one| one.path == path && one.method == point.method_id }
      return unless at

      call = calls[at]
      end_base(calls.pop) while calls.size > at + 1
      # The body of `def twice(n) = n * 2` is no line of its own.
      call.last = point.lineno if call.last.zero?
      compare_end(point, call)
      calls.pop
      record_end(call, point.return_value)
    end

    def record_end(call, value)
      return unless call.has_record

      if call.raised && (value.nil? || value.equal?(call.raised))
        note_left(call, call.raised)
        stack.last.raised = call.raised if stack.last
      else
        extra = origin? ? [@history.number(value), call.last] : []
        text = Values.format(value)
        text += ", or left by #{call.doubt.class}" if call.doubt && value.nil? && !origin?
        @journal.add("r", call.number, now - @began, text, *extra)
      end
    end

    # Ends a block's or a file's code, whose result nobody has seen.
    def end_base(call)
      @journal.add("r", call.number, now - @began, "") if call.is_base && call.has_record
    end

    # What the last statement changed is seen here, where the call's object is still at hand.
    def compare_end(point, call)
      return compare_locals(point, call) if @mode == "each" && call.has_record
      return unless origin? && call.last.positive?

      compare_values(point, call)
    end

    def enter_block(point, path)
      arguments = read_arguments(point)
      maker = find_maker(point, path) if stack.empty?
      outer = stack.empty? ? maker : call_around(point, path)
      call = push(point, path, name_block(point), point.lineno, point.method_id, arguments: arguments, maker: maker)
      call.outer, call.is_block = outer, true
    end

    # Returns the call that a block stands in; nil if it has returned, as of a block that it made for later.
    def call_around(point, path)
      method = point.method_id
      call_of(point, path) if method.nil? || stack.any? { |one| one.path == path && one.method == method }
    end

    # Finds the call that made the block of a new thread or fiber, by its names; nil if several may have.
    def find_maker(point, path)
      names = point.binding.local_variables
      found = @stacks.keys.flatten.select { |one| one.path == path && one.method == point.method_id && (one.names.to_a - names).empty? }
      most = found.map { |one| one.names.to_a.size }.max
      found.select! { |one| one.names.to_a.size == most }
      found.reject!(&:is_block) if found.size > 1
      found.first if found.size == 1
    end

    def leave_block(point, path)
      calls = stack
      at = calls.rindex { |one| one.is_block && one.path == path && one.method == point.method_id }
      return unless at

      call = calls[at]
      calls.pop while calls.size > at + 1
      compare_end(point, call)
      stack.pop
      record_end(call, point.return_value)
    end

    def pass_line(point, path)
      call = call_of(point, path)
      line = point.lineno
      call.raised = call.doubt = nil
      case @mode
      when "origin" then pass_step(point, call, line)
      when "hit"
        lines = @hit_lines[call.function] ||= {}
        lines[line] ||= now - @began
      when "each" then pass_each(point, call, line)
      end
      call.last = line
    end

    def pass_each(point, call, line)
      return unless call.has_record

      call.lines += 1
      if call.lines > @order[:lines]
        @journal.add("s", call.number, 1) if call.lines == @order[:lines] + 1
        return
      end
      compare_locals(point, call)
      @journal.add("p", call.number, now - @began, line)
    end

    # The locals that the line before changed.
    def compare_locals(point, call)
      frame = point.binding
      before = call.changed || {}
      texts = frame.local_variables.to_h { |name| [name.to_s, Values.format(frame.local_variable_get(name))] }
      changed = texts.reject { |name, text| before[name] == text || (!before.key?(name) && text == "nil") }
      call.changed = before.merge(texts)
      @journal.add("v", call.number, changed.to_a) if call.last.positive? && !changed.empty?
    rescue NameError
      nil
    end

    def pass_step(point, call, line)
      compare_values(point, call)
      @steps += 1
      @journal.add("p", call.number, @steps, line)
      return unless @order[:line] == line && own?(call.path) == @order[:file]

      note_hit(point, call)
    end

    def compare_values(point, call)
      frame = point.binding
      names = frame.local_variables
      outer = call.outer
      own = outer ? names - (outer.names || []) : names
      call.names = names
      pairs = own.map { |name| [name.to_s, frame.local_variable_get(name)] }
      while outer
        shared = (outer.names || []) & names
        hers = outer.outer ? shared - (outer.outer.names || []) : shared
        share_names(outer, frame, hers)
        outer = outer.outer
      end
      @history.compare(call.owner, pairs, point.self, @steps)
    rescue NameError
      nil
    end

    # A block's variables that are its method's.
    def share_names(outer, frame, names)
      pairs = names.map { |name| [name.to_s, frame.local_variable_get(name)] }
      @history.compare(outer.owner, pairs, nil, @steps)
    end

    def entered_place?(point)
      name = @order[:function]
      return false if name.empty?

      full = name_method(point)
      full == name || point.method_id.to_s == name || full.end_with?("::#{name}")
    end

    def note_hit(point, call)
      frame = point.binding
      return unless @order[:when].empty? || frame.eval(@order[:when])

      @hits += 1
      wanted = @order[:nth]
      return unless wanted.negative? || @hits == wanted

      begin
        value = frame.eval(@order[:expression])
        result = [Values.format(value), @history.number(value), nil]
      rescue StandardError, ScriptError => error
        result = [nil, 0, "#{error.class}: #{error.message.lines.first.to_s.strip}"]
      end
      at = stack.index { |one| one.equal?(call) } || -1
      callers = stack[0..at].reverse.first(STACK).map { |one| [one.function, one.equal?(call) ? point.lineno : one.last] }
      @journal.add("L", @hits, call.number, result, callers)
      finish if wanted.positive?
    rescue StandardError, ScriptError => error
      @journal.keep("n", "condition", 0, "#{error.class}: #{error.message.lines.first.to_s.strip}")
    end

    # What a block that is over has left on the stack is none of the exception's.
    def note_raised(point, path)
      calls = stack
      at = raising_call(calls, path)
      end_base(calls.pop) while at && calls.size > at + 1 && calls.last.is_base
      call = calls.last
      call.raised = point.raised_exception if call && (at || call.path == path)
    end

    # The event's own method may be one in C, as that of `1 / 0`: it stands at the line of what called it.
    def raising_call(calls, path)
      at = nil
      caller_locations(3).lazy.select { |one| one.path == path }.first(2).find do |one|
        method = one.base_label.start_with?("<") ? nil : one.base_label.to_sym
        at = calls.rindex { |call| call.path == path && call.method == method }
      end
      at
    end

    def note_left(call, error)
      return unless call.has_record

      text = error.message.to_s.lines.first.to_s.strip[0, 200]
      @journal.add("x", call.number, now - @began, error.class.to_s, text, call.last)
    end

    # An exception that nobody rescued left the calls that are still there, and those of a thread that
    # it has ended.
    def note_end
      error = $! # rubocop:disable Style/SpecialGlobalVars
      error = nil if error.is_a?(SystemExit)
      stack.reverse_each do |one|
        if error then note_left(one, error)
        elsif one.is_base then record_end(one, nil)
        end
      end
      over = @stacks.reject { |_, fiber| fiber.alive? }.keys.flatten
      over.each { |one| error && error.equal?(one.raised) ? note_left(one, error) : end_base(one) }
    end
  end

  NUMBERS = %w[line nth events each lines text items].freeze

  class << self
    def begin(path)
      @order = read_order(path)
      restart(is_fork: false)
      at_exit { @recorder.finish }
      return unless Process.respond_to?(:_fork)

      recorder = self
      Process.singleton_class.prepend(Module.new do
        define_method(:_fork) { super().tap { |pid| recorder.restart(is_fork: true) if pid.zero? } }
      end)
    end

    def restart(is_fork:)
      @recorder&.stop
      @recorder = Recorder.new(@order)
      @recorder.describe(is_fork: is_fork)
      @recorder.start
    end

    private

    def read_order(path)
      pairs = File.readlines(path, chomp: true, encoding: "UTF-8").map { |one| one.split("\t", 2) }
      order = pairs.to_h { |key, value| [key.to_sym, NUMBERS.include?(key) ? value.to_i : value] }
      order[:root] = pairs.filter_map { |key, value| value if key == "root" }
      order
    end
  end
end
