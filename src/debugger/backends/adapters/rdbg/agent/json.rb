# frozen_string_literal: true

module DebuggerAgent
  # Encodes and decodes JSON (RFC 8259), as far as the protocol needs it.
  module Json
    ESCAPES = { '"' => '\\"', "\\" => "\\\\", "\n" => "\\n", "\r" => "\\r", "\t" => "\\t" }.freeze
    SPECIAL = /["\\\u0000-\u001f]/.freeze
    LETTERS = { "n" => "\n", "r" => "\r", "t" => "\t", "b" => "\b", "f" => "\f" }.freeze
    TOKEN = /\G\s*(?:([\[\]{}:,])|"((?:[^"\\]|\\.)*)"|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(true|false|null))/m.freeze

    class << self
      def encode(value)
        append(+"", value)
      end

      def decode(text)
        Reader.new(text).read
      end

      # Any text becomes valid UTF-8: binary strings of the program's are shown, too.
      def to_utf8(text)
        text = text.dup.force_encoding(Encoding::UTF_8) if text.encoding == Encoding::BINARY
        text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace)
        text.valid_encoding? ? text : text.scrub("\u{fffd}")
      rescue EncodingError
        text.dup.force_encoding(Encoding::UTF_8).scrub("\u{fffd}")
      end

      private

      # To one text: each step of a program waits until its stop is encoded.
      def append(out, value)
        case value
        when nil then out << "null"
        when true, false, Integer then out << value.to_s
        when Float then out << (value.finite? ? value.to_s : "null")
        when Hash then append_all(out, "{", value, "}") { |key, one| append(out << name(key), one) }
        when Array then append_all(out, "[", value, "]") { |one| append(out, one) }
        else out << quote(value.to_s)
        end
      end

      def append_all(out, opening, parts, closing)
        separator = opening
        parts.each do |*part|
          out << separator
          separator = ","
          yield(*part)
        end
        out << opening if parts.empty?
        out << closing
      end

      # The protocol's own names are few.
      def name(key)
        @names[key] ||= "#{quote(key.to_s)}:"
      end

      def quote(text)
        text = to_utf8(text) unless text.encoding == Encoding::UTF_8 && text.valid_encoding?
        text = text.gsub(SPECIAL) { |one| ESCAPES[one] || format("\\u%04x", one.ord) } if text.match?(SPECIAL)
        "\"#{text}\""
      end
    end
    @names = {}

    # Reads one value, token by token.
    class Reader
      def initialize(text)
        @text = text
        @at = 0
      end

      def read
        match = next_token
        case match[1]
        when "{" then read_pairs
        when "[" then read_items
        when nil then to_value(match)
        else match[1]
        end
      end

      private

      def next_token
        match = TOKEN.match(@text, @at) or raise ArgumentError, "malformed JSON at #{@at}"
        @at = match.end(0)
        match
      end

      def to_value(match)
        if match[2] then unescape(match[2])
        elsif match[3] then match[3] =~ /[.eE]/ ? match[3].to_f : match[3].to_i
        else { "true" => true, "false" => false, "null" => nil }[match[4]]
        end
      end

      def unescape(text)
        return text unless text.include?("\\")

        text.gsub(/\\u([dD][89abAB]\h\h)\\u([dD][c-fC-F]\h\h)|\\u(\h{4})|\\(.)/m) do
          if $1 then [0x10000 + (($1.hex - 0xd800) << 10) + ($2.hex - 0xdc00)].pack("U")
          elsif $3 then [$3.hex].pack("U")
          else LETTERS[$4] || $4
          end
        end
      end

      def read_pairs
        pairs = {}
        loop do
          match = next_token
          return pairs if match[1] == "}"
          next if match[1] == ","

          next_token # the colon
          pairs[unescape(match[2])] = read
        end
      end

      def read_items
        items = []
        loop do
          rest = @at
          match = next_token
          return items if match[1] == "]"
          next if match[1] == ","

          @at = rest
          items << read
        end
      end
    end
  end
end
