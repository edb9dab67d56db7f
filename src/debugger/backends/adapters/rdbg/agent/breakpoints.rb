# frozen_string_literal: true

module DebuggerAgent
  # What the debugger asked for. `number` is the protocol's; `key` is the line or the method's name
  # that was requested, `owner` the class before it; `hits` counts.
  Breakpoint = Struct.new(:number, :key, :condition, :hit_count, :log, :is_function, :owner, :hits) do
    def same_request?(other)
      to_a[1..5] == other.to_a[1..5]
    end

    def other_class?(trace)
      return false unless owner

      classes = ClassNames.callable_classes(trace.self, trace.defined_class)
      classes.none? { |one| (name = ClassNames.of(one)) && (name == owner || name.end_with?("::#{owner}")) }
    end
  end

  # Where breakpoints stop: an event of one method, block or file. `label` and `first_line` tell
  # which code it is in; `traces` are the trace points, by code that is loaded.
  Site = Struct.new(:path, :line, :label, :first_line, :event, :breakpoints, :traces) do
    # What a program evaluates with a file's name (`config.ru`, a template) has no absolute path, and
    # may be within other code: of its outermost code the line decides.
    def in_code?(iseq)
      return false unless FileLines.path_of(iseq) == path
      return true if FileLines.identify(iseq) == [label, first_line]

      iseq.absolute_path.nil? && label == "<top>" && iseq.trace_points.include?([line, event])
    end

    def at_frame?(frame)
      event == :line && frame.line == line && frame.iseq && in_code?(frame.iseq)
    end
  end

  # The lines of a file that have code, by compiling it.
  class FileLines
    METHOD = /\A(?!block |rescue in |ensure in |<)/.freeze

    TEMPLATE = /\.(?:erb|haml|slim)\z/.freeze
    Template = Struct.new(:label, :first_lineno)

    attr_reader :problem, :is_template

    def self.path_of(iseq)
      iseq.absolute_path || File.expand_path(iseq.path)
    end

    # What code is called and where it begins. The file's own has another name where it is compiled,
    # where it is the program, and where it is required.
    def self.identify(iseq)
      label = iseq.label.sub(/<(?:main|top \(required\)|compiled)>/, "<top>")
      [label, label == "<top>" ? 0 : iseq.first_lineno]
    end

    def initialize(path)
      @codes = []
      return @is_template = true if TEMPLATE.match?(path)

      walk_code(RubyVM::InstructionSequence.compile_file(path))
    rescue SyntaxError => error
      @problem = "it does not parse: #{error.message.lines.first.to_s.strip}"
    rescue SystemCallError => error
      @problem = "it cannot be read: #{error.message}"
    end

    # The code object and the line at which a breakpoint on a line stops; nil without one. On the
    # first line of a method it stops at the method's first statement.
    def find_line(line)
      return [Template.new("<main>", 0), line, :line] if @is_template

      defined = @codes.find { |one| one.first_lineno == line && METHOD.match?(one.label) }
      return first_statement(defined) if defined

      lines = @codes.flat_map { |one| lines_of(one).map { |at| [at, one] } }
      at = lines.map(&:first).select { |one| one >= line }.min
      # The outermost of several on one line: a block's own would stop once for each call.
      at && [lines.find { |one, _| one == at }[1], at, :line]
    end

    # The methods of a name, each with where a call of it stops.
    def find_methods(name)
      @codes.select { |one| METHOD.match?(one.label) && one.base_label == name }
            .map { |one| first_statement(one) }
    end

    def method_names
      @codes.select { |one| METHOD.match?(one.label) }.map { |one| one.base_label }.uniq
    end

    # What is said about a line behind the last one with code.
    def last_code_text
      last = code_lines.last
      last ? "; the last line with code is #{last}" : ""
    end

    def code_lines
      @codes.flat_map { |one| lines_of(one) }.uniq.sort
    end

    private

    def walk_code(iseq)
      @codes << iseq
      iseq.each_child { |one| walk_code(one) }
    end

    def lines_of(iseq)
      iseq.trace_points.filter_map { |line, event| line if event == :line }
    end

    def first_statement(iseq)
      line = lines_of(iseq).first
      line ? [iseq, line, :line] : [iseq, iseq.first_lineno, :call]
    end
  end

  # Sets breakpoints on lines and methods, and decides at each hit what is due.
  class Breakpoints
    def initialize(connection)
      @connection = connection
      @lines = Hash.new { |lines, path| lines[path] = [] } # breakpoints by file
      @functions = []
      @sites = []
      @retired = [] # traces without a site, each with its code
      @files = {} # what `read_file` made of them
      @passed = {}.compare_by_identity # sites that a stopped thread is at already, by thread
      @loading = TracePoint.new(:script_compiled) { |trace| note_loaded(trace.instruction_sequence) }
      @loading.enable
    end

    # Called with the breakpoints that are due, and whether a step ends there.
    attr_writer :on_hit

    # Replaces the line breakpoints of a file; one that is the same keeps its count of hits.
    def replace_lines(path, requests)
      path = File.realpath(path) if File.exist?(path)
      before = @lines[path]
      @lines[path] = requests.map { |one| make_breakpoint(one, one["line"], before) }
      rebuild_sites
      @lines[path].map { |one| describe_line(path, one) }
    end

    def replace_functions(requests)
      before = @functions
      @functions = requests.map { |one| make_breakpoint(one, one["name"].to_s, before) }
      rebuild_sites
      @functions.map { |one| describe_function(one) }
    end

    # Removes all, for good.
    def stop_listening
      @loading.disable
      @lines.clear
      @functions = []
      rebuild_sites
    end

    # A site whose event comes right after a step's.
    def find_site(frame)
      @sites.find { |one| one.at_frame?(frame) }
    end

    # A thread goes on from a frame where a site may have been made while it was stopped: whether
    # that site has an event for this very line depends on the version of Ruby (3.1: none).
    def skip_current(thread, frame)
      return unless frame && (site = find_site(frame))

      @passed[thread] = site
      TracePoint.new(:line) do |trace|
        @passed.delete(thread)
        trace.disable
      end.enable(target_thread: thread)
    end

    private

    def make_breakpoint(request, key, before)
      owner = key.is_a?(String) ? key[/\A(.+?)(?:#|\.|::)[^#.:]+\z/, 1] : nil
      made = Breakpoint.new(nil, key, request["condition"], request["hitCondition"].to_s[/\d+/]&.to_i,
                            request["logMessage"], key.is_a?(String), owner, 0)
      same = before.find { |one| one.same_request?(made) }
      before.delete(same)
      made.number = same ? same.number : DebuggerAgent.take_number
      made.hits = same ? same.hits : 0
      made
    end

    def method_name(breakpoint)
      breakpoint.key[/[^#.:]+\z/] || breakpoint.key
    end

    def read_file(path)
      changed = File.file?(path) ? File.mtime(path) : nil
      known, lines = @files[path]
      return lines if lines && known == changed

      @files[path] = [changed, FileLines.new(path)]
      @files[path][1]
    end

    def describe_line(path, breakpoint)
      lines = read_file(path)
      answer = { id: breakpoint.number, verified: false, line: breakpoint.key, source: { path: path } }
      return answer.merge(message: "#{File.basename(path)}: #{lines.problem}") if lines.problem

      _, line, = lines.find_line(breakpoint.key)
      is_pending = lines.is_template && @sites.none? { |one| one.breakpoints.include?(breakpoint) && one.traces.any? }
      return answer.merge(message: "the template is not loaded yet, or has no code there") if is_pending

      return answer.merge(verified: true, line: line) if line

      answer.merge(message: "no code at #{File.basename(path)}:#{breakpoint.key}#{lines.last_code_text}")
    end

    def describe_function(breakpoint)
      site = @sites.find { |one| one.breakpoints.include?(breakpoint) }
      return { id: breakpoint.number, verified: true, line: site.line, source: { path: site.path } } if site

      { id: breakpoint.number, verified: false, message: "no method #{breakpoint.key} is loaded yet" }
    end

    def rebuild_sites
      before = @sites
      @sites = []
      make_sites
      retire_traces(before.flat_map { |site| site.traces.to_a })
    end

    # Ruby 3.1 frees the hooks of a code with its last trace, and then calls them in a thread that is
    # stopped in a trace of all code, as those of steps and watchpoints are (ruby/ruby#5865). So the
    # last trace of a code stays, without a site, until no thread is stopped.
    def retire_traces(traces)
      used = {}.compare_by_identity
      @sites.each { |site| site.traces.each_key { |iseq| used[iseq] = true } }
      @retired = (@retired + traces).select do |iseq, trace|
        next true unless used.key?(iseq) || !DebuggerAgent.stops.is_stopped

        trace.disable
        false
      end
    end

    def make_sites
      @lines.each { |path, all| all.each { |one| add_line(path, one) } }
      loaded_files.each { |path| add_functions(path) } unless @functions.empty?
      return if @sites.empty?

      ObjectSpace.each_iseq { |iseq| activate_sites(iseq) }
    end

    # Of those that have a method of a requested name, and the program's own.
    def loaded_files
      names = @functions.map { |one| method_name(one) }
      files = File.file?($PROGRAM_NAME) ? [File.realpath($PROGRAM_NAME)] : []
      ObjectSpace.each_iseq do |iseq|
        files << iseq.absolute_path if names.include?(iseq.base_label) && iseq.absolute_path
      end
      files.uniq
    end

    def add_line(path, breakpoint)
      code, line, event = read_file(path).find_line(breakpoint.key)
      add_site(path, code, line, event, breakpoint) if code
    end

    # Returns whether there is a method of a requested name in the file.
    def add_functions(path)
      @functions.flat_map do |one|
        read_file(path).find_methods(method_name(one)).each { |code, line, event| add_site(path, code, line, event, one) }
      end.any?
    end

    def add_site(path, code, line, event, breakpoint)
      made = Site.new(path, line, *FileLines.identify(code), event, [], {}.compare_by_identity)
      site = @sites.find { |one| one.to_a.first(5) == made.to_a.first(5) }
      @sites << (site = made) unless site
      site.breakpoints << breakpoint unless site.breakpoints.any? { |one| one.equal?(breakpoint) }
    end

    def note_loaded(iseq)
      path = FileLines.path_of(iseq)
      return if path.start_with?(FOLDER) || (@functions.empty? && !@lines.key?(path))

      report_functions if !@functions.empty? && File.file?(path) && add_functions(path)
      each_code(iseq) { |one| activate_sites(one) }
      report_lines(path) if @files[path]&.last&.is_template
    end

    def report_lines(path)
      @lines[path].each do |one|
        @connection.send_event("breakpoint", reason: "changed", breakpoint: describe_line(path, one))
      end
    end

    def report_functions
      @functions.each do |one|
        @connection.send_event("breakpoint", reason: "changed", breakpoint: describe_function(one))
      end
    end

    def each_code(iseq, &block)
      yield iseq
      iseq.each_child { |one| each_code(one, &block) }
    end

    def activate_sites(iseq)
      @sites.each { |site| enable_site(site, iseq) if site.in_code?(iseq) && !site.traces.key?(iseq) }
    end

    def enable_site(site, iseq)
      trace = TracePoint.new(site.event) { |one| note_event(site, one) }
      place = site.event == :line ? { target_line: site.line } : {}
      trace.enable(target: iseq, **place)
      site.traces[iseq] = trace
    rescue ArgumentError # the line is not in this code: the file has changed since it was loaded
      nil
    end

    def note_event(site, trace)
      return unless @sites.any? { |one| one.equal?(site) }

      thread = Thread.current
      return if DebuggerAgent.stops.busy?(thread) || @passed.delete(thread).equal?(site)

      ends_step = DebuggerAgent.stepping.take_deferred(thread)
      due = find_due(site, trace)
      @on_hit.call(due, ends_step) if ends_step || !due.empty?
    end

    # The breakpoints that stop at this hit. Hits are counted, logs are written.
    def find_due(site, trace)
      site.breakpoints.select do |one|
        next if one.other_class?(trace) || (one.is_function && in_block?(site)) || !holds?(one, trace.binding)

        one.hits += 1
        next if one.hit_count && one.hits < one.hit_count
        next true unless one.log

        @connection.send_event("output", category: "log", output: LogText.fill(one.log, trace.binding))
        false
      end
    end

    # A trace of a method's first line sees the blocks of that line, too, which are no calls of it.
    def in_block?(site)
      own = caller_locations(1).find { |one| !one.path.start_with?(FOLDER) }
      own&.label.to_s.start_with?("block ") && !site.label.start_with?("block ")
    end

    def holds?(breakpoint, scope)
      return true unless breakpoint.condition

      scope.eval(breakpoint.condition, "(condition)", 1)
    rescue Exception => error # rubocop:disable Lint/RescueException -- the user's expression
      text = "#{breakpoint.condition.strip}: #{DebuggerAgent.short_message(error)}"
      @connection.send_event("output", category: "condition", output: text)
      false
    end
  end

  # Fills in the expressions of a log message.
  module LogText
    class << self
      def fill(text, scope)
        result = +""
        rest = text
        while (start = rest.index("{"))
          ending = find_end(rest, start) or break
          result << rest[0...start] << read_value(rest[start + 1...ending], scope)
          rest = rest[ending + 1..]
        end
        result << rest
      end

      private

      # The brace that closes an expression: those in strings and blocks do not count.
      def find_end(text, start)
        level = 0
        quote = nil
        (start...text.length).each do |at|
          letter = text[at]
          if quote
            quote = nil if letter == quote && text[at - 1] != "\\"
          elsif letter =~ /["']/ then quote = letter
          elsif letter == "{" then level += 1
          elsif letter == "}" && (level -= 1).zero? then return at
          end
        end
        nil
      end

      def read_value(expression, scope)
        return "{}" if expression.strip.empty?

        value = scope.eval(expression, "(log)", 1)
        value.is_a?(String) ? value : DebuggerAgent.values.describe(value)
      rescue Exception => error # rubocop:disable Lint/RescueException -- the user's expression
        "<#{DebuggerAgent.short_message(error)}>"
      end
    end
  end
end
