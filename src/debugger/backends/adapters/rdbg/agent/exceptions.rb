# frozen_string_literal: true

module DebuggerAgent
  # Stops where exceptions are raised, and where nobody has rescued one.
  #
  # Whether an exception will be rescued is not known when it is raised. So the frames are kept with
  # it, with their bindings, and shown at the program's end if it ends by that exception.
  class Exceptions
    # Of one place: what is raised more often than this is rescued.
    KEPT_MAX = 500
    CAUSES_MAX = 10
    LIBRARY = %r{/(?:gems|rubygems|vendor_ruby|site_ruby|ruby/\d[^/]*)/|\A<internal:|\A\(eval}.freeze

    def initialize
      @raised = nil # the types to stop at; empty: all
      @is_uncaught = false
      @kept = Hash.new(0)
      @trace = TracePoint.new(:raise) { |trace| note_raised(trace) }
    end

    attr_writer :on_raise

    # `filters` are the protocol's, each with its condition: names of types.
    def replace_filters(filters)
      @is_uncaught = filters.key?("uncaught")
      @raised = filters["raised"]
      wanted = @is_uncaught || @raised
      wanted ? (@trace.enable unless @trace.enabled?) : @trace.disable
    end

    # The exception by which the program ends, and the frames that it was raised in.
    def find_uncaught(error)
      return nil if !@is_uncaught || error.nil? || error.is_a?(SystemExit) || error.is_a?(SignalException)

      # A file that does not parse has none: Ruby's own message says where.
      frames = kept_frames(error) || read_backtrace(error)
      frames.empty? ? nil : [error, frames]
    end

    def describe(error, mode)
      { exceptionId: name_of(error), description: message_of(error), breakMode: mode,
        details: describe_details(error, 0).merge(part: FailedOperand.text_of(error)) }
    end

    private

    def note_raised(trace)
      thread = Thread.current
      error = trace.raised_exception
      return if DebuggerAgent.stops.busy?(thread) || internal?(trace.path)

      frames = nil
      if @raised && of_type?(error)
        frames = Frames.capture
        @on_raise.call(error, frames)
      end
      keep_frames(error, frames, trace) if @is_uncaught
    end

    # What `require` raises and rescues itself.
    def internal?(path)
      path.start_with?(FOLDER) || path.match?(/\A<internal:.*(?:gem|rubygems|prelude)/) || path.end_with?("/rubygems/core_ext/kernel_require.rb")
    end

    def of_type?(error)
      return true if @raised.empty?

      names = error.class.ancestors.map { |one| ClassNames.of(one).to_s }
      @raised.any? { |type| names.any? { |name| name == type || name.end_with?("::#{type}") } }
    end

    def keep_frames(error, frames, trace)
      # An exception that is raised again keeps the frames of its first raise.
      return if error.frozen? || error.is_a?(SystemExit) || kept_frames(error)
      return if (@kept[[trace.path, trace.lineno]] += 1) > KEPT_MAX

      error.instance_variable_set(:@__debugger_frames, frames || Frames.capture)
    end

    def kept_frames(error)
      error.instance_variable_get(:@__debugger_frames)
    end

    def read_backtrace(error)
      (error.backtrace_locations || []).map do |one|
        Frame.new(one.absolute_path || one.path, one.lineno, one.label, nil, nil, nil)
      end
    end

    def describe_details(error, depth)
      cause = error.cause
      inner = cause && depth < CAUSES_MAX ? { innerException: [describe_details(cause, depth + 1)] } : {}
      place = depth.positive? ? locate_cause(error) : ""
      { message: message_of(error) + place, typeName: name_of(error), fullTypeName: name_of(error),
        stackTrace: (error.backtrace || []).first(50).join("\n") }.merge(inner)
    end

    # Where a cause was raised, the first frame outside of libraries.
    def locate_cause(error)
      frame = (kept_frames(error) || read_backtrace(error)).find { |one| !LIBRARY.match?(one.path.to_s) }
      frame ? ", in #{frame.name} #{File.basename(frame.path)}:#{frame.line}" : ""
    end

    def name_of(error)
      ClassNames.of(error.class) || error.class.inspect
    end

    def message_of(error)
      text = error.respond_to?(:original_message) ? error.original_message : error.message
      Json.to_utf8(text.to_s)
    rescue Exception => problem # rubocop:disable Lint/RescueException -- the program's own code
      "(its message raises #{problem.class})"
    end
  end
end
