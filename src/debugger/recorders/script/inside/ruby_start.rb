# frozen_string_literal: true

# Loaded by RUBYOPT before a program's own code: it records the program's calls, lines and values.
order = ENV["DEBUGGER_SCRIPT_ORDER"]
if order && File.file?(order) && !defined?(DebuggerRecorder)
  require "fiber" # Fiber.current, before Ruby 3.1
  require "rbconfig" # RubyGems loads it, which --disable-gems leaves out
  require_relative "ruby_values"
  require_relative "ruby_journal"
  require_relative "ruby_history"
  require_relative "ruby_recorder"
  DebuggerRecorder.begin(order)
end
