# frozen_string_literal: true

module DebuggerAgent
  # Finds the source of the operand that an exception of a method call is about: the receiver that is
  # nil, or the argument of the wrong type.
  #
  # Ruby's syntax tree tells which call of a line failed (3.1 to 3.3; 3.4 parses by Prism, without it).
  module FailedOperand
    LENGTH_MAX = 300
    COMPARED = /\Acomparison of (?<left>.+) with (?<right>.+) failed\z/m.freeze

    class << self
      # The text of the operand; "" where it is not known.
      def text_of(error)
        location = error.backtrace_locations&.first
        file = location&.absolute_path
        return "" if file.nil? || !error.is_a?(StandardError)

        node = RubyVM::AbstractSyntaxTree.of(location, keep_script_lines: true)
        span = node && (error.is_a?(NoMethodError) ? receiver_span(error, node) : typed_span(error, node, location))
        span ? read_text(file, *span) : ""
      rescue Exception # rubocop:disable Lint/RescueException -- the answer does without it
        ""
      end

      private

      def receiver_span(error, node)
        return nil unless error.name && [nil, false].include?(error.receiver)

        case node.type
        when :CALL, :OPCALL, :QCALL, :ATTRASGN
          node.children[1] == error.name ? span_of(node.children[0]) : nil
        when :OP_ASGN1 # `counts[word] += 1`
          error.name == :[] ? span_of(node.children[0]) : element_span(*node.children[0, 2])
        when :OP_ASGN2 # `order.total += 1`
          error.name == node.children[2] ? span_of(node.children[0]) : nil
        end
      end

      # A call of Ruby's own whose name is that of the innermost frame refused an operand itself.
      def typed_span(error, node, location)
        return nil unless %i[CALL OPCALL].include?(node.type) && node.children[1].to_s == location.label

        receiver, name, list = node.children
        arguments = list.respond_to?(:children) ? list.children.compact : []
        return nil unless arguments.size == 1

        complains_of_receiver?(error.message, name) ? span_of(receiver) : argument_span(error, arguments[0])
      end

      def complains_of_receiver?(message, name)
        compared = COMPARED.match(message)
        return compared[:left] =~ /\A(?:String|NilClass)\z/ if compared

        # A text for an index: what is indexed is an array, or a number, and no hash.
        name == :[] && message.match?(/\Ano implicit conversion of (?:String|Symbol) into Integer/)
      end

      def argument_span(error, argument)
        is_typed = COMPARED.match?(error.message) ||
                   error.message.match?(/can't be coerced into|no implicit conversion of|\Adivided by 0\z/)
        is_typed ? span_of(argument) : nil
      end

      def span_of(node)
        [node.first_lineno, node.first_column, node.last_lineno, node.last_column]
      end

      def element_span(receiver, index)
        [receiver.first_lineno, receiver.first_column, index.last_lineno, index.last_column + 1]
      end

      def read_text(file, first_line, first, last_line, last)
        lines = File.binread(file).lines[first_line - 1..last_line - 1].to_a
        return "" if lines.size != last_line - first_line + 1

        lines[-1] = lines[-1].byteslice(0, last)
        lines[0] = lines[0].byteslice(first..)
        text = lines.map { |one| one.force_encoding(Encoding::UTF_8).strip }
        text = text.reduce { |all, one| one.start_with?(".", "&.") ? all + one : "#{all} #{one}" }
        text.valid_encoding? && text.length <= LENGTH_MAX ? text : ""
      end
    end
  end
end
