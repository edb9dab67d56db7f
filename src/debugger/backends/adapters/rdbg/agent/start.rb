# frozen_string_literal: true

# Debugs the Ruby program that loads this file before its own code: `ruby -r …/start.rb PROGRAM`.
#
# It connects to the debugger at the Unix socket that the environment names, and speaks the Debug
# Adapter Protocol there. No library is loaded that a Gemfile may pin to another version (json,
# strscan, timeout): Bundler would refuse to run the program.

module DebuggerAgent
  FOLDER = "#{__dir__}/"
  SOCKET = "DEBUGGER_RUBY_SOCKET"
  # The same for the Rubies that the program starts.
  CHILDREN = "DEBUGGER_RUBY_CHILDREN"
  # A variable whose writes are recorded from the beginning.
  HISTORY = "DEBUGGER_RUBY_HISTORY"

  # The frames of the current thread with their bindings, by the `debug` gem's C extension.
  #
  # The extension wants a module DEBUGGER__. It is taken away again: a program that requires "debug"
  # then finds none, and with RUBY_DEBUG_ENABLE=0 starts no second debugger.
  module FrameCapture
    FIELDS = %i[location self binding iseq class frame_depth has_return_value return_value
                has_raised_exception raised_exception show_line _local_variables _callee
                dupped_binding].freeze

    GEM = %r{/gems/debug-[^/]+/lib/debug/}.freeze

    class << self
      attr_reader :version

      def load_extension
        return if @holder
        return @holder = ::DEBUGGER__ if defined?(::DEBUGGER__.capture_frames)

        raise LoadError, "Ruby runs without its gems: --disable-gems" unless defined?(Gem::Specification)

        spec = find_gem or raise LoadError, "the gem debug is not installed for Ruby #{RUBY_VERSION}"
        @version = spec.version.to_s
        holder = Module.new
        holder.const_set(:FrameInfo, Struct.new(*FIELDS))
        Object.const_set(:DEBUGGER__, holder)
        require find_extension(spec)
        @holder = Object.send(:remove_const, :DEBUGGER__)
      end

      # Of the gem's own code there are frames where it has stopped the program itself.
      def capture_frames
        @holder.capture_frames(FOLDER).reject { |one| GEM.match?(one.location.path || "") }
      end

      private

      def find_gem
        Gem::Specification.find_all_by_name("debug").max_by(&:version)
      end

      def find_extension(spec)
        folders = [spec.extension_dir, *spec.full_require_paths]
        found = folders.map { |folder| "#{folder}/debug/debug.so" }.find { |path| File.file?(path) }
        found || Dir.glob("#{spec.extension_dir}/debug/debug.{bundle,so}").first ||
          raise(LoadError, "the gem debug #{spec.version} has no compiled extension")
      end
    end
  end
end

require "socket.so"
%w[json connection class_names values reads frames breakpoints failed_operand exceptions stops waits stepping watches history requests agent]
  .each { |name| require "#{__dir__}/#{name}.rb" }

if (path = ENV.delete(DebuggerAgent::SOCKET)) then DebuggerAgent.begin_program(path)
elsif (path = ENV[DebuggerAgent::CHILDREN]) then DebuggerAgent.begin_child(path)
end
