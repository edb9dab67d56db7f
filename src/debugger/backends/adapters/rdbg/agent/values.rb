# frozen_string_literal: true

module DebuggerAgent
  # Describes objects as text of a bounded length, and lists what they contain.
  class Values
    DEPTH_MAX = 4
    ITEMS_MAX = 50
    TEXT_MAX = 1000
    INSPECT_MAX = 4000
    # The object has no text of its own: its variables are shown.
    PLAIN = [Kernel.instance_method(:inspect)].freeze

    # An object with its parts; `parts` yields names, values and expressions.
    Handle = Struct.new(:object, :expression, :parts)

    def initialize
      forget_handles
    end

    # Handles hold for one stop.
    def forget_handles
      @handles = []
    end

    def find_handle(number)
      number.positive? ? @handles[number - 1] : nil
    end

    # A handle of variables that are no object's: those of a scope.
    def add_group(parts)
      @handles << Handle.new(nil, nil, parts)
      @handles.size
    end

    def describe_variable(name, object, expression)
      count = count_items(object)
      { name: name.to_s, value: describe(object), type: class_name(object),
        variablesReference: has_parts?(object) ? add_object(object, expression) : 0,
        evaluateName: expression, indexedVariables: count }.compact
    end

    # The parts of a handle: [name, object, expression].
    def list_parts(handle, start: nil, count: nil)
      return handle.parts if handle.parts

      object = handle.object
      items = count_items(object)
      if items
        first = start || 0
        last = count && count.positive? ? [first + count, items].min : items
        return (first...last).map { |index| indexed_part(object, index, handle.expression) }
      end
      named_parts(object, handle.expression)
    end

    def describe(object, depth = 0)
      case basic_class(object)
      when :string then describe_string(object)
      when :array then describe_items("[", object, "]", depth) { |one| describe(one, depth + 1) }
      when :hash then describe_hash(object, depth)
      when :plain then describe_plain(object, depth)
      else clip(own_text(object), INSPECT_MAX)
      end
    rescue Exception => error # rubocop:disable Lint/RescueException -- the program's own code
      "#<#{class_name(object)}: inspect raises #{class_name(error)}>"
    end

    def class_name(object)
      type = CLASS_OF.bind_call(object)
      ClassNames.of(type) || type.inspect
    end

    private

    CLASS_OF = Kernel.instance_method(:class)
    IVARS = Kernel.instance_method(:instance_variables)
    IVAR = Kernel.instance_method(:instance_variable_get)

    def basic_class(object)
      case object
      when Integer, Float, Symbol, nil, true, false then :own
      when String then :string
      when Array then :array
      when Hash then :hash
      when Struct then method_owner(object, :inspect) == Struct ? :plain : :own
      when Exception, Module, Method, Proc, Thread, IO then :own
      else PLAIN.include?(inspect_method(object)) && !IVARS.bind_call(object).empty? ? :plain : :own
      end
    end

    def inspect_method(object)
      object.method(:inspect).unbind.owner.instance_method(:inspect)
    rescue NameError
      PLAIN.first
    end

    def method_owner(object, name)
      object.method(name).owner
    end

    def own_text(object)
      return "#<#{class_name(object)}>" unless BasicObject === object && Kernel === object

      object.inspect.to_s
    end

    def describe_string(text)
      text.length > TEXT_MAX ? "#{text[0, TEXT_MAX].inspect}… (#{text.length} characters)" : text.inspect
    end

    def describe_items(opening, items, closing, depth)
      return "#{opening}…#{closing}" if depth >= DEPTH_MAX && !items.empty?

      shown = items.first(ITEMS_MAX).map { |one| yield one }
      shown << "… #{items.size} in all" if items.size > ITEMS_MAX
      clip("#{opening}#{shown.join(", ")}#{closing}", INSPECT_MAX)
    end

    def describe_hash(object, depth)
      describe_items("{", object, "}", depth) do |key, value|
        text = describe(value, depth + 1)
        key.is_a?(Symbol) && key.inspect !~ /["@$=]|[^\w?!]\z/ ? "#{key}: #{text}" : "#{describe(key, depth + 1)} => #{text}"
      end
    end

    # `#<Order id=3, items=[…]>`: the object's number is left out, so that two runs can be compared.
    def describe_plain(object, depth)
      name = object.is_a?(Struct) ? "struct #{class_name(object)}" : class_name(object)
      parts = named_parts(object, "")
      return "#<#{name}>" if parts.empty?
      return "#<#{name} …>" if depth >= DEPTH_MAX - 1

      describe_items("#<#{name} ", parts, ">", depth) do |label, value, _|
        "#{label}=#{describe(value, depth + 1)}"
      end
    end

    def has_parts?(object)
      case object
      when Array, Hash then !object.empty?
      when nil, true, false, Numeric, String, Symbol, Module then false
      else !named_parts(object, "").empty?
      end
    end

    def add_object(object, expression)
      @handles << Handle.new(object, expression, nil)
      @handles.size
    end

    def count_items(object)
      case object
      when Array, Hash then object.size
      end
    end

    def indexed_part(object, index, expression)
      return ["[#{index}]", object[index], expression && "#{expression}[#{index}]"] if object.is_a?(Array)

      key, value = hash_pairs(object)[index]
      text = describe(key)
      ["[#{text}]", value, expression && key_expression(key) && "#{expression}[#{text}]"]
    end

    # A page of a large hash is read by number: its pairs are made once for one stop.
    def hash_pairs(object)
      return @pairs[1] if @pairs && @pairs[0].equal?(object) && @pairs[1].size == object.size

      (@pairs = [object, object.to_a])[1]
    end

    def key_expression(key)
      key.is_a?(Symbol) || key.is_a?(String) || key.is_a?(Numeric) || key.nil?
    end

    def named_parts(object, expression)
      members = object.is_a?(Struct) ? object.members.map { |name| [name.to_s, object[name], "#{expression}.#{name}"] } : []
      ranged = object.is_a?(Range) ? [["begin", object.begin, "#{expression}.begin"], ["end", object.end, "#{expression}.end"]] : []
      members + ranged + IVARS.bind_call(object).map do |name|
        own = expression == "self" ? name.to_s : "#{expression}.instance_variable_get(:#{name})"
        [name.to_s, IVAR.bind_call(object, name), expression && own]
      end
    rescue NoMethodError, TypeError # of BasicObject
      []
    end

    def clip(text, limit)
      text.length > limit ? "#{text[0, limit]}…" : text
    end
  end
end
