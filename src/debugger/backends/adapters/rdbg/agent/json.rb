# frozen_string_literal: true

module DebuggerAgent
  # Encodes and decodes JSON (RFC 8259), as far as the protocol needs it.
  module Json
    ESCAPES = { '"' => '\\"', "\\" => "\\\\", "\n" => "\\n", "\r" => "\\r", "\t" => "\\t" }.freeze
    SPECIAL = /["\\\u0000-\u001f]/.freeze
    LETTERS = { "n" => "\n", "r" => "\r", "t" => "\t", "b" => "\b", "f" => "\f" }.freeze
    WORDS = { "true" => true, "false" => false, "null" => nil }.freeze
    # Unrolled: an alternative for each character takes longer.
    TEXT = /"([^"\\]*(?:\\.[^"\\]*)*)"/m.freeze
    NUMBER = /(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)/.freeze
    TOKEN = /\G\s*(?:#{TEXT}|#{NUMBER}|(true|false|null)|([\[{]))/.freeze
    KEY = /\G[\s,]*(?:#{TEXT}\s*:|\})/.freeze # the next of an object, or its end
    PLAIN_REQUEST = /\A{"seq":(\d+),"type":"request","command":"(\w+)","arguments":{((?:"\w+":\d+,?)*)}}\z/.freeze
    PLAIN_ARGUMENT = /"(\w+)":(\d+)/.freeze
    ITEM = /\G[\s,]*(\])?/.freeze # before the next of a list, or its end

    class << self
      def encode(value)
        append(+"", value)
      end

      def decode(text)
        decode_plain_request(text) || Reader.new(text).read
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

      # Most requests are of this form, and a step waits for each.
      def decode_plain_request(text)
        match = PLAIN_REQUEST.match(text) or return
        arguments = match[3].scan(PLAIN_ARGUMENT).to_h { |name, digits| [name, digits.to_i] }
        { "seq" => match[1].to_i, "type" => "request", "command" => match[2], "arguments" => arguments }
      end

      # To one text: each step of a program waits until its stop is encoded.
      def append(out, value)
        case value
        when String then append_text(out, value)
        when nil then out << "null"
        when true, false, Integer then out << value.to_s
        when Hash then append_pairs(out, value)
        when Array then append_items(out, value)
        when Float then out << (value.finite? ? value.to_s : "null")
        else append_text(out, value.to_s)
        end
      end

      def append_pairs(out, pairs)
        separator = "{"
        pairs.each_pair do |key, one|
          out << separator << (@names[key] || name(key))
          case one # the two that most values are
          when String then append_text(out, one)
          when Integer then out << one.to_s
          else append(out, one)
          end
          separator = ","
        end
        out << (pairs.empty? ? "{}" : "}")
      end

      def append_items(out, items)
        separator = "["
        items.each do |one|
          out << separator
          append(out, one)
          separator = ","
        end
        out << (items.empty? ? "[]" : "]")
      end

      # The protocol's own names are few.
      def name(key)
        @names[key] = append_text(+"", key.to_s) << ":"
      end

      def append_text(out, text)
        text = to_utf8(text) unless text.encoding == Encoding::UTF_8 && text.valid_encoding?
        text = text.gsub(SPECIAL) { |one| ESCAPES[one] || format("\\u%04x", one.ord) } if text.match?(SPECIAL)
        out << '"' << text << '"'
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
        match = next_token(TOKEN)
        if (text = match[1]) then unescape(text)
        elsif (digits = match[2]) then digits.match?(/[.eE]/) ? digits.to_f : digits.to_i
        elsif (word = match[3]) then WORDS[word]
        elsif match[4] == "{" then read_pairs
        else read_items
        end
      end

      private

      def next_token(pattern)
        match = pattern.match(@text, @at) or raise ArgumentError, "malformed JSON at #{@at}"
        @at = match.end(0)
        match
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
        while (key = next_token(KEY)[1])
          pairs[unescape(key)] = read
        end
        pairs
      end

      def read_items
        items = []
        items << read until next_token(ITEM)[1]
        items
      end
    end
  end
end
