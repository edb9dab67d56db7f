# frozen_string_literal: true

module DebuggerRecorder
  # Writes values and records as text. It calls no code of the program's own.
  module Values
    ESCAPES = { '"' => '\"', "\\" => "\\\\", "\n" => '\n', "\r" => '\r', "\t" => '\t' }.freeze
    VARIABLES = Kernel.instance_method(:instance_variables)
    VARIABLE = Kernel.instance_method(:instance_variable_get)
    CLASS = Kernel.instance_method(:class)

    class << self
      attr_accessor :text_max, :items_max

      # A bounded text, as `inspect` writes it for plain values.
      def format(value, depth = 2)
        text = case value
               when nil, true, false, Integer, Float, Symbol then value.inspect
               when String then format_string(value)
               when Array then format_parts("[", value.first(items_max + 1).map { |one| [nil, one] }, "]", depth)
               when Hash then format_parts("{", value.first(items_max + 1), "}", depth)
               when Module, Range, Rational, Complex, Regexp then value.to_s
               when Exception then "#<#{value.class}: #{value.message}>"
               else format_object(value, depth)
               end
        text.size > text_max ? "#{text[0, text_max]}…" : text
      rescue StandardError
        "#<?>"
      end

      # A value in the form that a record has it: JSON.
      def encode(value)
        case value
        when nil then "null"
        when Integer then value.to_s
        when true, false then value.to_s
        when Array then "[#{value.map { |one| encode(one) }.join(',')}]"
        else encode_string(value.to_s)
        end
      end

      def variables(object)
        Kernel === object ? VARIABLES.bind_call(object) : []
      end

      def read(object, name)
        VARIABLE.bind_call(object, name)
      end

      def class_of(object)
        Kernel === object ? CLASS.bind_call(object) : BasicObject
      end

      private

      def encode_string(text)
        text = text.encode("UTF-8", invalid: :replace, undef: :replace) unless text.encoding == Encoding::UTF_8
        text = text.scrub("?") unless text.valid_encoding?
        "\"#{text.gsub(/["\\\n\r\t]/, ESCAPES).gsub(/[\u0000-\u001f]/) { |one| '\u%04x' % one.ord }}\""
      end

      def format_string(text)
        text.size > text_max ? "#{text[0, text_max].inspect}…" : text.inspect
      end

      def format_parts(open, pairs, close, depth)
        return "#{open}#{'…' unless pairs.empty?}#{close}" if depth.zero?

        texts = pairs.first(items_max).map do |key, one|
          value = format(one, depth - 1)
          next value if open == "["

          key.is_a?(Symbol) ? "#{key}: #{value}" : "#{format(key, depth - 1)} => #{value}"
        end
        texts << "…" if pairs.size > items_max
        "#{open}#{texts.join(', ')}#{close}"
      end

      def format_object(object, depth)
        return "#<BasicObject>" unless Kernel === object
        return "#<#{class_of(object)}>" if depth < 2

        pairs = object.is_a?(Struct) ? object.each_pair.to_a : variables(object).map { |one| [one, read(object, one)] }
        texts = pairs.first(items_max).map { |name, one| "#{name}=#{format(one, depth - 1)}" }
        "#<#{[class_of(object), *texts].join(' ')}>"
      end
    end
    self.text_max = 120
    self.items_max = 6
  end
end
