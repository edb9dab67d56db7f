# frozen_string_literal: true

module DebuggerAgent
  # Names what a thread waits for, by the method of Ruby's own that it is in.
  module Waits
    # By the name of the method: the kind, and the class where only one has it.
    KINDS = {
      "lock" => ["lock", "Mutex"], "synchronize" => ["lock", ""], "enter" => ["lock", "Monitor"],
      "mon_enter" => ["lock", "Monitor"], "mon_synchronize" => ["lock", "Monitor"],
      "pop" => ["receive", "Queue"], "shift" => ["receive", "Queue"], "deq" => ["receive", "Queue"],
      "push" => ["send", "SizedQueue"], "enq" => ["send", "SizedQueue"], "<<" => ["send", "SizedQueue"],
      "take" => ["receive", "Ractor"], "receive" => ["receive", "Ractor"], "recv" => ["receive", "Ractor"],
      "join" => ["join", "Thread"], "value" => ["join", "Thread"],
      "system" => ["child", ""], "`" => ["child", ""], "wait2" => ["child", ""], "waitpid" => ["child", ""]
    }.freeze

    class << self
      # `kind;class;threads`, as the adapter for Java has it; "" for a thread that runs. Ruby tells
      # nobody which thread owns a mutex. Where all threads wait without a limit none can go on (its
      # own rule for "No live threads left"): then each waits for all others.
      def describe(thread, stops)
        held = stops.find_held(thread)
        names = held ? read_held(held) : read_waiting(thread)
        return "" if names.empty?

        kind, type = choose_kind(*names)
        all = stops.list_threads
        is_deadlock = all.all? { |one| endless?(one, stops.find_held(one)) }
        others = is_deadlock ? (all - [thread]).map { |one| stops.number_of(one) } : []
        "#{kind};#{type};#{others.join(",")}"
      end

      # Notes how the main thread waits, before a signal interrupts it.
      def note_main
        @is_main_asleep = Thread.main.status == "sleep"
        @is_main_endless = Thread.main.inspect.include?("sleep_forever")
      end

      private

      # A thread that the pause has interrupted stands in the method that it waited in. One that
      # ran may stand in a native method, too: signals are handled between them.
      def read_held(held)
        first = held.frames.first
        return [] unless held.reason == "pause" && @is_main_asleep && first && first.iseq.nil?
        # ConditionVariable#wait sleeps by its mutex; of the native frames only this one is kept.
        return %w[wait] if first.name.end_with?("Mutex#sleep")

        [first.name[/[^#. ]+\z/]]
      end

      def read_waiting(thread)
        return [] unless thread.status == "sleep"

        (thread.backtrace_locations(0, 2) || []).map(&:label).map { |label| label[/[^#. ]+\z/] }
      end

      def endless?(thread, held)
        held ? thread == Thread.main && @is_main_endless : thread.inspect.include?("sleep_forever")
      end

      def choose_kind(name, caller = nil)
        return ["condition", "ConditionVariable"] if name == "wait" || (name == "sleep" && caller == "wait")
        return ["sleep", ""] if name == "sleep"

        KINDS.fetch(name) { ["io", ""] }
      end
    end
  end
end
