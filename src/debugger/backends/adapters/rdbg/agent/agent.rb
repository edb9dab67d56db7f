# frozen_string_literal: true

module DebuggerAgent
  class << self
    attr_reader :history, :values, :breakpoints, :exceptions, :stops, :stepping, :watches, :configured, :is_detached, :is_ending
    attr_writer :stop_on_entry

    # Connects, and waits until the debugger has set its breakpoints.
    def begin_program(path)
      # A program that requires "debug" gets no second debugger.
      ENV["RUBY_DEBUG_ENABLE"] ||= "0"
      FrameCapture.load_extension
      recorded = ENV.delete(HISTORY)
      connect(path)
      follow_programs(recorded)
      @configured.pop
      @history = History.new(recorded) if recorded
      arm_entry if @stop_on_entry
    rescue LoadError, SystemCallError => error
      warn "debugger: #{error.message}"
      exit! 1
    end

    # Connects a Ruby that the program has started, or one that it has become. Without a debugger,
    # or without the gem, it runs free.
    def begin_child(path)
      FrameCapture.load_extension
      @is_child = true
      connect(path)
      @configured.pop
      # A forked one goes on with what was recorded before the fork.
      @history ||= ENV[HISTORY] && History.new(ENV[HISTORY])
    rescue LoadError, SystemCallError
      nil
    end

    # Connects a forked child anew: its threads and its connection are the parent's.
    def begin_fork
      path = is_detached ? nil : @path
      detach
      @connection.abandon
      AGENT_THREADS.clear
      begin_child(path) if path
    end

    # Breakpoints and watchpoints are numbered together.
    def take_number
      @last_number = (@last_number || 0) + 1
    end

    # Of a program that was started the status is seen by its parent.
    def report_end(error)
      status = error.nil? ? 0 : 1
      status = error.status if error.is_a?(SystemExit)
      @connection.send_event("exited", exitCode: status)
      @connection.send_event("terminated")
    end

    # Connects from a program that runs already.
    def attach_program(path)
      FrameCapture.load_extension
      @is_attached = true
      connect(path)
      nil
    end

    # The handler is set each time: the gem debug, where it is loaded, sets its own.
    def pause
      @pause_requested = true
      Waits.note_main
      trap("URG") { note_pause }
      Process.kill(:URG, Process.pid)
    end

    # Lets the main thread go on, or stop, where it waits since the gem debug has let it go; false
    # where it does not wait.
    def release_main(stops)
      $debugger_hold ? $debugger_hold << stops : false # rubocop:disable Style/GlobalVars
    end

    # Stops the main thread where it has waited.
    def stop_held
      stops.stop("pause", Frames.capture)
    end

    # Lets go of the program, which runs on.
    def detach
      return if @is_detached

      @is_detached = true
      ENV.update(@environment) if @environment
      breakpoints.stop_listening
      exceptions.replace_filters({})
      watches.remove_all
      stepping.cancel_all
      stops.resume
    end

    # One line; Ruby adds suggestions and code to the messages of some.
    def short_message(error)
      text = error.respond_to?(:original_message) ? error.original_message : error.message
      text = text.lines.first.to_s.strip if error.is_a?(NameError) || error.is_a?(SyntaxError)
      # Of Ruby before 3.4: the receiver with all that is in it.
      text = text.sub(/ for #<(\S+?)(?::0x\h+)?[ >].*\z/m, ' for an instance of \1') if error.is_a?(NameError)
      "#{error.class}: #{text}"
    rescue Exception # rubocop:disable Lint/RescueException -- the program's own code
      error.class.to_s
    end

    private

    # Each Ruby that the program starts loads this agent, too.
    def follow_programs(recorded)
      agent = "#{FOLDER}start.rb"
      return if agent.match?(/\s/)

      @environment = { "RUBYOPT" => ENV["RUBYOPT"], CHILDREN => nil, HISTORY => nil }
      ENV["RUBYOPT"] = "-r#{agent} #{ENV["RUBYOPT"]}".strip
      ENV[CHILDREN] = @path
      ENV[HISTORY] = recorded
    end

    def connect(path)
      @path = path
      @pid = Process.pid
      @configured = Queue.new
      @connection = Connection.new(path)
      @values = Values.new
      @stops = Stops.new(@connection)
      @breakpoints = Breakpoints.new(@connection)
      @exceptions = Exceptions.new
      @stepping = Stepping.new
      @watches = Watches.new
      set_callbacks
      @is_detached = false
      at_exit { end_program } unless @is_known
      @is_known = true
      Process.singleton_class.prepend(ForkWatch)
      Binding.include(OwnStops)
      Object.include(DebuggerCall)
      serve
    end

    def serve
      connection = @connection
      requests = Requests.new(self, connection)
      stops.on_step = ->(thread) { requests.answer_ahead(thread) }
      connection.start_thread("debugger") do
        connection.read_requests { |request| requests.handle(request) }
        # The debugger is gone: the program goes on without it.
        detach
        @configured << true
        release_main(false)
      end
    end

    def set_callbacks
      breakpoints.on_hit = lambda do |due, ends_step|
        stepping.cancel(Thread.current)
        reason = if due.empty? then "step"
                 elsif due.all?(&:is_function) then "function breakpoint"
                 else "breakpoint"
                 end
        stops.stop(reason, Frames.capture, { hitBreakpointIds: due.map(&:number) })
      end
      stepping.on_end = lambda do |frames, returned|
        held = stops.stop("step", frames, {}, returned: returned)
        breakpoints.skip_current(Thread.current, held&.frames&.first) if returned.nil?
      end
      exceptions.on_raise = lambda do |error, frames|
        stepping.cancel(Thread.current)
        stops.stop("exception", frames, { description: short_message(error), text: ClassNames.of(error.class) }, error: error)
      end
      watches.on_change = ->(numbers, written) { report_write(numbers, written) }
    end

    # Shows the line that has just run, where it is of the innermost frame: it has written the value.
    # A step from there first shows where the program is.
    def report_write(numbers, written)
      stepping.cancel(Thread.current)
      frames = Frames.capture
      top = frames.first
      shown = top && written && top.path == written[0] && lines_of(top).include?(written[1])
      listed = shown ? [top.dup.tap { |one| one.line = written[1] }, *frames.drop(1)] : frames
      stops.stop("data breakpoint", listed, { hitBreakpointIds: numbers })
      stops.stop("step", frames) if shown && stepping.cancel(Thread.current)
    end

    def lines_of(frame)
      frame.iseq ? frame.iseq.trace_points.map(&:first) : []
    end

    def note_pause
      return unless @pause_requested

      @pause_requested = false
      stops.stop("pause", Frames.capture(with_native: true)) unless stops.is_stopped
    end

    def arm_entry
      program = File.file?($PROGRAM_NAME) ? File.realpath($PROGRAM_NAME) : $PROGRAM_NAME
      TracePoint.new(:line) do |trace|
        next unless trace.path == program || File.expand_path(trace.path) == program || (File.file?(trace.path) && File.realpath(trace.path) == program)

        trace.disable
        stops.stop("entry", Frames.capture)
      end.enable(target_thread: Thread.main)
    end

    # Runs last: `minitest` runs its tests in a handler of the same kind.
    def end_program
      return if Process.pid != @pid || is_detached

      @is_ending = true
      error, frames = exceptions.find_uncaught($!)
      stops.stop("exception", frames, { description: short_message(error), text: ClassNames.of(error.class) }, error: error) if error
      report_end($!) if @is_attached || @is_child
      @connection.flush
    end
  end

  # A forked child has a session of its own.
  module ForkWatch
    def _fork
      pid = super
      DebuggerAgent.begin_fork if pid.zero?
      pid
    end

    def daemon(...)
      super.tap { DebuggerAgent.begin_fork }
    end
  end

  # `binding.break` in the program stops there, as with the gem debug.
  module OwnStops
    def break(**) = DebuggerAgent.stops.stop("breakpoint", Frames.capture)
    alias b break
  end

  # And so does `debugger`.
  module DebuggerCall
    private

    def debugger(**) = DebuggerAgent.stops.stop("breakpoint", Frames.capture)
  end
end
