# frozen_string_literal: true

module DebuggerRecorder
  # Records each change of the locals, the object of a call, and what can be reached from them.
  #
  # An owner is a call (`L3`: its locals), an object (`O5`), a class (`C5`) or the globals (`G`).
  class History
    DEPTH = 3        # of objects in objects
    OBJECTS_MAX = 60 # that are compared at one statement
    ITEMS_MAX = 200  # of an array or a hash that are compared
    HASH_DEFAULT = Hash.instance_method(:default)
    # A string that may be changed in place, with what it was.
    Text = ::Struct.new(:object, :copy)

    def initialize(journal)
      @journal = journal
      @known = {}
      @scanned = {}
      @numbers = {}.compare_by_identity
      @globals = global_variables
      @count = @globals.size
      @readers = {}
    end

    # The number of an object that can change; 0 of a plain value.
    def number(value)
      case value
      when nil, true, false, Integer, Float, Symbol, Range, Regexp then 0
      else @numbers[value] ||= @numbers.size + 1
      end
    end

    # Compares what is reachable with what it was; the changes belong to the statement before.
    def compare(owner, names, receiver, at)
      @seen = {}.compare_by_identity
      @left = OBJECTS_MAX
      roots = [receiver]
      compare_pairs(owner, names, at)
      names.each { |_, value| roots << value }
      globals = read_globals
      unless globals.empty?
        compare_pairs("G", globals, at)
        globals.each { |_, value| roots << value }
      end
      roots.each { |one| compare_object(one, DEPTH, at) }
    end

    private

    # The program's own global variables; none of them is compared before there is one.
    def read_globals
      names = global_variables
      if names.size != @count
        @count = names.size
        (names - @globals - @readers.keys).first(40).each do |one|
          @readers[one] = eval("-> { #{one} }") unless one.start_with?("$-")
        end
      end
      @readers.map { |name, read| [name.to_s, read.call] }
    end

    def compare_object(value, depth, at)
      return if depth.zero? || @left.zero? || plain?(value) || @seen[value]

      @seen[value] = true
      @left -= 1
      pairs = contents(value)
      return if pairs.nil?

      compare_pairs("O#{number(value)}", pairs, at)
      pairs.each { |_, one| compare_object(one, depth - 1, at) }
      return unless depth == DEPTH

      own = Values.class_of(value)
      compare_object(own, 1, at) unless own.equal?(Object) || own.equal?(Array) || own.equal?(Hash)
    end

    def plain?(value)
      case value
      when nil, true, false, Integer, Float, Symbol, Range, Regexp, String, Proc, IO then true
      else false
      end
    end

    def contents(value)
      case value
      when Array then value.first(ITEMS_MAX).each_with_index.map { |one, at| ["[#{at}]", one] }
      when Hash then value.first(ITEMS_MAX).map { |key, one| ["[#{Values.format(key)}]", one] } + default_of(value)
      when Module then variables(value) + class_variables(value)
      when Struct then value.each_pair.map { |name, one| ["@#{name}", one] } + variables(value)
      else variables(value)
      end
    rescue StandardError
      nil
    end

    # What each key gives that a hash does not have, if that can be changed.
    def default_of(hash)
      default = HASH_DEFAULT.bind_call(hash)
      plain?(default) ? [] : [["(default)", default]]
    end

    def variables(value)
      Values.variables(value).map { |one| [one.to_s, Values.read(value, one)] }
    end

    def class_variables(value)
      value.class_variables(false).map { |one| [one.to_s, value.class_variable_get(one)] }
    end

    def compare_pairs(owner, pairs, at)
      known = @known[owner]
      before = @scanned[owner]
      @scanned[owner] = at
      is_first = known.nil?
      known ||= (@known[owner] = {})
      pairs.each do |name, value|
        if known.key?(name)
          old = known[name]
          next if same?(old, value)

          was = format_old(old)
        end
        known[name] = value.is_a?(String) && !value.frozen? ? Text.new(value, value.dup) : value
        @journal.add("w", owner, [name], Values.format(value), number(value), was, is_first ? -1 : before)
      end
      note_removed(owner, known, pairs, before) if pairs.size < known.size
    end

    def same?(old, value)
      return old.object.equal?(value) && old.copy == value if old.is_a?(Text)
      return true if old.equal?(value)

      (old.is_a?(Float) && value.is_a?(Float) || old.is_a?(Integer) && value.is_a?(Integer)) && old == value
    end

    def format_old(old)
      Values.format(old.is_a?(Text) ? old.copy : old)
    end

    def note_removed(owner, known, pairs, before)
      return if owner.start_with?("L")

      (known.keys - pairs.map(&:first)).each do |name|
        old = known.delete(name)
        @journal.add("w", owner, [name], nil, 0, format_old(old), before)
      end
    end
  end
end
