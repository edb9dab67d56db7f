# frozen_string_literal: true

module DebuggerAgent
  # Evaluates what a statement reads, for an answer that shows it, without running the program's code.
  #
  # Each name behind a dot is a method in Ruby: `stack.pop` would give the next element, and take it
  # away. Only readers are called, and methods of Ruby's own classes that change nothing.
  module Reads
    class NotARead < StandardError; end

    PATH = /\A(?<base>@{0,2}\w+[?!]?|\$\w+)(?<rest>(?:&?\.\w+[?!]?|\[[^\[\]]*\])*)\z/.freeze
    PART = /&?\.(?<name>\w+[?!]?)|\[(?<key>[^\[\]]*)\]/.freeze
    LITERAL = /\A(?:-?\d+|:\w+[?!]?|"[^"#\\]*"|'[^'\\]*'|nil|true|false)\z/.freeze
    SUM = /\A(?<left>.+?)\s*(?<sign>[-+])\s*(?<right>[\w@.]+)\s*\z/.freeze
    METHOD = Kernel.instance_method(:method)
    # Of instructions; a method that has no others gives a variable or a constant.
    READING = %i[getinstancevariable getclassvariable putobject putself putnil leave nop
                 putobject_INT2FIX_0_ putobject_INT2FIX_1_].freeze
    PLAIN = [Array, Hash, String, Symbol, Integer, Float, Rational, Range, NilClass, TrueClass, FalseClass, Exception,
             Module, Kernel, Comparable, Enumerable, Struct].freeze
    HARMLESS = %i[size length count first last keys values min max sum nil? empty? any? class to_s to_i to_f to_a
                  to_sym zero? positive? negative? even? odd? abs floor ceil round name message begin end].freeze

    class << self
      def value(scope, text)
        match = PATH.match(text) or return sum_value(scope, text)
        found = base_value(scope, match[:base])
        match[:rest].scan(PART) { found = part_value(scope, found, $~) }
        found
      end

      private

      def base_value(scope, name)
        is_variable = name.match?(/\A(?:[@$A-Z]|(?:self|nil|true|false|\d+)\z)/)
        is_variable ||= name.match?(/\A[a-z_]\w*\z/) && scope.local_variable_defined?(name)
        is_variable ? scope.eval(name) : read_method(scope.receiver, name)
      end

      def part_value(scope, object, part)
        return nil if object.nil? && part[0].start_with?("&")
        return read_method(object, part[:name]) if part[:name]

        read_element(object, key_value(scope, part[:key]))
      end

      def key_value(scope, text)
        LITERAL.match?(text) ? scope.eval(text) : value(scope, text)
      end

      # The sum or the difference of whole numbers: `items[at + 1]`, `total / (count - 1)`.
      def sum_value(scope, text)
        sum = SUM.match(text) or raise NotARead, "#{text} is not read by itself"
        left, right = key_value(scope, sum[:left]), key_value(scope, sum[:right])
        raise NotARead, "#{text} runs code" unless Integer === left && Integer === right

        sum[:sign] == "+" ? left + right : left - right
      end

      def read_element(object, key)
        is_plain = object.instance_of?(Array) || object.instance_of?(String) || object.is_a?(Struct)
        is_plain ||= object.equal?(ENV)
        is_plain ||= object.instance_of?(Hash) && (object.key?(key) || object.default_proc.nil?)
        is_plain ? object[key] : raise(NotARead, "its elements are computed")
      end

      def read_method(object, name)
        method = METHOD.bind_call(object, name)
        raise NotARead, "#{name} runs code" unless method.arity <= 0 && reader?(method)

        method.call
      rescue NameError
        raise NotARead, "no method #{name}"
      end

      def reader?(method)
        code = RubyVM::InstructionSequence.of(method)
        return (code.to_a.last.grep(Array).map(&:first) - READING).empty? if code
        # Of `attr_reader` and its like there is a place, and no code; of methods in C neither.
        return true if method.source_location && method.arity.zero?

        member = method.receiver.is_a?(Struct) && method.receiver.members.include?(method.name)
        member || (PLAIN.include?(method.owner) && HARMLESS.include?(method.name) && !iterates?(method.receiver))
      end

      # Enumerable's methods call `each`, which may be the program's.
      def iterates?(object)
        Enumerable === object && [Array, Hash, Range, Struct].none? { |one| one === object }
      end
    end
  end
end
