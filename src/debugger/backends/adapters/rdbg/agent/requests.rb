# frozen_string_literal: true

module DebuggerAgent
  # Answers the requests of the Debug Adapter Protocol. A request on a frame runs on its thread.
  class Requests
    CAPABILITIES = {
      supportsConfigurationDoneRequest: true, supportsFunctionBreakpoints: true,
      supportsConditionalBreakpoints: true, supportsHitConditionalBreakpoints: true,
      supportsLogPoints: true, supportsSetVariable: true, supportsExceptionInfoRequest: true,
      supportsExceptionFilterOptions: true, supportsModulesRequest: true,
      supportsLoadedSourcesRequest: true, supportsDataBreakpoints: true,
      supportTerminateDebuggee: true, supportsDelayedStackTraceLoading: true,
      exceptionBreakpointFilters: [
        { filter: "raised", label: "raised exceptions", supportsCondition: true },
        { filter: "uncaught", label: "exceptions that nobody rescued" }
      ]
    }.freeze
    # Seconds; an expression that takes longer is ended.
    EVALUATION_S = 10

    class EvaluationTimeout < Exception; end # rubocop:disable Lint/InheritException -- not rescued by the program

    def initialize(agent, connection)
      @agent = agent
      @connection = connection
      forget_frames
    end

    # Frames and values hold for one stop.
    def forget_frames
      @frames = []
      @agent.values.forget_handles
    end

    def handle(request)
      name = "on_#{request["command"]}"
      return @connection.refuse(request, "unknown request #{request["command"]}") unless respond_to?(name, true)

      send(name, request, request["arguments"] || {})
    rescue StandardError, SyntaxError => error
      @connection.refuse(request, DebuggerAgent.short_message(error))
    end

    # Answers to the requests that the report of a step makes, for the thread that has stopped.
    def answer_ahead(thread)
      levels, @reported_levels = @reported_levels, nil
      return [] unless levels

      answers = []
      stack = take_answer(answers, "stackTrace", "threadId" => @agent.stops.number_of(thread), "startFrame" => 0, "levels" => levels)
      top = stack && stack[:stackFrames].first or return answers
      scopes = take_answer(answers, "scopes", "frameId" => top[:id]) or return answers
      scopes[:scopes].each { |one| take_answer(answers, "variables", "variablesReference" => one[:variablesReference]) }
      answers
    end

    private

    def take_answer(answers, command, arguments)
      taken = []
      handle({ "command" => command, "arguments" => arguments, "taken" => taken })
      answers << { command: command, arguments: arguments, body: taken[0] } if taken[0]
      taken[0]
    end

    def on_initialize(request, _)
      @connection.answer(request, CAPABILITIES)
    end

    def on_launch(request, arguments)
      @agent.stop_on_entry = arguments["stopOnEntry"]
      @connection.answer(request)
      @connection.send_event("initialized")
    end

    def on_attach(request, arguments)
      @pauses = arguments["pause"]
      @connection.answer(request)
      @connection.send_event("process", name: $PROGRAM_NAME, systemProcessId: Process.pid, startMethod: "attach")
      @connection.send_event("initialized")
    end

    def on_configurationDone(request, _)
      @connection.answer(request)
      @agent.configured << true
      is_held = @agent.release_main(@pauses)
      @agent.pause if @pauses && !is_held
    end

    def on_setBreakpoints(request, arguments)
      path = arguments.dig("source", "path")
      @connection.answer(request, breakpoints: @agent.breakpoints.replace_lines(path, arguments["breakpoints"] || []))
    end

    def on_setFunctionBreakpoints(request, arguments)
      @connection.answer(request, breakpoints: @agent.breakpoints.replace_functions(arguments["breakpoints"] || []))
    end

    def on_setExceptionBreakpoints(request, arguments)
      filters = (arguments["filters"] || []).to_h { |name| [name, []] }
      (arguments["filterOptions"] || []).each do |one|
        filters[one["filterId"]] = one["condition"].to_s.split(/[,\s]+/)
      end
      @agent.exceptions.replace_filters(filters)
      @connection.answer(request)
    end

    def on_dataBreakpointInfo(request, arguments)
      on_frame(request, arguments["frameId"]) do |frame|
        # A name that is nowhere is an error here, and no watchpoint.
        id = @agent.watches.identify(arguments["name"], scope_of(frame))
        @connection.answer(request, dataId: id, description: arguments["name"], accessTypes: ["write"])
      end
    end

    def on_setDataBreakpoints(request, arguments)
      wanted = arguments["breakpoints"] || []
      if wanted.any? { |one| one["accessType"] != "write" }
        return @connection.refuse(request, "reads of a variable cannot be seen in Ruby: without --read and --access")
      end

      @connection.answer(request, breakpoints: @agent.watches.replace(arguments["breakpoints"] || []))
    end

    def on_threads(request, _)
      threads = @agent.stops.list_threads.map do |one|
        { id: @agent.stops.number_of(one), name: name_thread(one) }
      end
      @connection.answer(request, threads: threads)
    end

    def name_thread(thread)
      return "main" if thread == Thread.main

      thread.name || thread.to_s[/[^\/ ]+:\d+(?= )/] || "thread"
    end

    def on_stackTrace(request, arguments)
      thread = @agent.stops.find_thread(arguments["threadId"]) or raise ArgumentError, "no such thread"
      frames = @agent.stops.frames_of(thread)
      first = arguments["startFrame"] || 0
      levels = arguments["levels"].to_i
      shown = frames.drop(first).first(levels.positive? ? levels : frames.size)
      list = shown.map { |frame| describe_frame(frame, number_frame(thread, frame)) }
      @connection.answer(request, stackFrames: list, totalFrames: frames.size)
    end

    def number_frame(thread, frame)
      index = @frames.index { |_, one| one.equal?(frame) }
      return index + 1 if index

      @frames << [thread, frame]
      @frames.size
    end

    def describe_frame(frame, number)
      source = File.file?(frame.path.to_s) ? { source: { name: File.basename(frame.path), path: frame.path } } : {}
      { id: number, name: frame.name, line: frame.line, column: 0 }.merge(source)
    end

    def on_scopes(request, arguments)
      on_frame(request, arguments["frameId"]) do |frame|
        returned = @agent.stops.find_held(Thread.current)&.returned
        given = Frames.argument_names(frame).select { |name| frame.binding.local_variable_defined?(name) }
        locals = frame.binding ? frame.binding.local_variables.reject { |name| name.start_with?("_debugger") } : []
        # Ruby 3.4 lists `_1` and `it` of blocks elsewhere.
        groups = [["Arguments", "arguments", local_parts(frame, given)],
                  ["Locals", "locals", return_part(returned, frame) + local_parts(frame, locals - given) + self_part(frame)]]
        scopes = groups.map do |name, hint, parts|
          { name: name, presentationHint: hint, expensive: false, variablesReference: @agent.values.add_group(parts) }
        end
        @connection.answer(request, scopes: scopes)
      end
    end

    def local_parts(frame, names)
      names.map { |name| [name.to_s, frame.binding.local_variable_get(name), name.to_s] }
    end

    def self_part(frame)
      frame.binding.nil? || frame.receiver.equal?(TOPLEVEL_BINDING.receiver) ? [] : [["self", frame.receiver, "self"]]
    end

    def return_part(returned, frame)
      is_top = @agent.stops.find_held(Thread.current)&.frames&.first.equal?(frame)
      returned && is_top ? [["(return) #{returned[0]}", returned[1], nil]] : []
    end

    def on_variables(request, arguments)
      handle = @agent.values.find_handle(arguments["variablesReference"].to_i) or raise ArgumentError, "that value was of an earlier stop"
      in_thread(request, nil) do
        parts = @agent.values.list_parts(handle, start: arguments["start"], count: arguments["count"])
        @connection.answer(request, variables: parts.map { |part| @agent.values.describe_variable(*part) })
      end
    end

    def on_evaluate(request, arguments)
      return answer_wait(request, arguments["frameId"]) if arguments["expression"] == "$wait"

      on_frame(request, arguments["frameId"]) do |frame|
        value = within_limit { scope_of(frame).eval(arguments["expression"], "(debugger)", 1) }
        shown = @agent.values.describe_variable("", value, arguments["expression"])
        @connection.answer(request, shown.merge(result: shown[:value]))
      end
    end

    # What the frame's thread waits for: read from here, for it runs no code meanwhile.
    def answer_wait(request, number)
      thread, = @frames[number.to_i - 1]
      raise ArgumentError, "that frame was of an earlier stop" if thread.nil?

      wait = Waits.describe(thread, @agent.stops)
      @connection.answer(request, result: wait, variablesReference: 0)
    end

    def on_setVariable(request, arguments)
      handle = @agent.values.find_handle(arguments["variablesReference"].to_i) or raise ArgumentError, "that value was of an earlier stop"
      in_thread(request, nil) do
        part = @agent.values.list_parts(handle).find { |name, _, _| name == arguments["name"] }
        raise ArgumentError, "#{arguments["name"]} cannot be set" unless part && part[2]

        frame = @agent.stops.find_held(Thread.current)&.frames&.first
        value = within_limit { scope_of(frame).eval("#{part[2]} = (#{arguments["value"]})", "(debugger)", 1) }
        @connection.answer(request, @agent.values.describe_variable("", value, part[2]))
      end
    end

    def on_exceptionInfo(request, arguments)
      thread = @agent.stops.find_thread(arguments["threadId"])
      error = thread && @agent.stops.find_held(thread)&.error or raise ArgumentError, "no exception"
      mode = @agent.stops.find_held(thread).reason == "exception" && @agent.is_ending ? "unhandled" : "always"
      @connection.answer(request, @agent.exceptions.describe(error, mode))
    end

    def on_modules(request, _)
      files = [$PROGRAM_NAME, *$LOADED_FEATURES].uniq.reject { |path| path.start_with?(FOLDER) }
      list = files.each_with_index.map { |path, index| { id: index, name: File.basename(path), path: File.expand_path(path) } }
      @connection.answer(request, modules: list, totalModules: list.size)
    end

    def on_loadedSources(request, _)
      files = [File.expand_path($PROGRAM_NAME), *$LOADED_FEATURES].grep(/\.rb\z/).reject { |path| path.start_with?(FOLDER) }
      @connection.answer(request, sources: files.uniq.map { |path| { name: File.basename(path), path: path } })
    end

    def on_continue(request, _)
      @connection.answer(request, allThreadsContinued: true)
      resume
    end

    def on_next(request, arguments) = step(request, arguments, :over)
    def on_stepIn(request, arguments) = step(request, arguments, :in)
    def on_stepOut(request, arguments) = step(request, arguments, :out)

    def step(request, arguments, kind)
      thread = @agent.stops.find_thread(arguments["threadId"]) or raise ArgumentError, "no such thread"
      frame = @agent.stops.frames_of(thread).first
      is_raising = @agent.stops.find_held(thread)&.reason == "exception"
      begun = @agent.stops.run_on(thread) { @agent.stepping.begin_step(kind, frame, is_raising) }
      raise ArgumentError, "that thread waits outside of Ruby code and cannot step" unless begun

      @reported_levels = arguments["reports"]
      @connection.answer_step(request)
      resume
    end

    def resume
      forget_frames
      @agent.stops.resume
    end

    def on_pause(request, _)
      @connection.answer(request)
      @agent.pause
    end

    def on_disconnect(request, arguments)
      @agent.detach
      @connection.answer(request)
      @connection.flush
      # One that ends has a status of its own, which its parent reads.
      Process.kill(:KILL, Process.pid) if arguments["terminateDebuggee"] && !@agent.is_ending
      @connection.close
    end

    def on_terminate(request, _)
      @connection.answer(request)
      @connection.flush
      Process.kill(:KILL, Process.pid)
    end

    # -- where a request runs ----------------------------------------------------------------------

    def on_frame(request, number, &block)
      thread, frame = number ? @frames[number - 1] : nil
      raise ArgumentError, "that frame was of an earlier stop" if number && frame.nil?

      in_thread(request, thread) { block.call(frame) }
    end

    # On the frame's thread, else on the one that has stopped; where none has, here.
    def in_thread(request, thread, &block)
      job = lambda do
        block.call
      rescue EvaluationTimeout
        @connection.refuse(request, "it did not finish within #{EVALUATION_S} s and was interrupted")
      rescue Exception => error # rubocop:disable Lint/RescueException -- the user's expression
        @connection.refuse(request, DebuggerAgent.short_message(error))
      end
      thread ||= @agent.stops.list_threads.find { |one| @agent.stops.find_held(one)&.reason }
      job.call unless thread && @agent.stops.run_on(thread, &job)
    end

    def scope_of(frame)
      return TOPLEVEL_BINDING if frame.nil?

      frame.binding or raise ArgumentError, "the values of this frame are not known: its thread waits outside of Ruby code"
    end

    def within_limit
      thread = Thread.current
      watcher = Thread.new do
        sleep EVALUATION_S
        thread.raise(EvaluationTimeout)
      end
      AGENT_THREADS << watcher
      yield
    ensure
      # It is ours until it has ended, and would be listed among the program's else.
      watcher.kill
      AGENT_THREADS.select!(&:alive?)
    end
  end
end
