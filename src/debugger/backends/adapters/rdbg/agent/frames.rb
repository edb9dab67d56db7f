# frozen_string_literal: true

module DebuggerAgent
  # A frame of a stopped thread; `binding` is nil where only the place is known. `height` is the
  # number of frames, those of Ruby's own methods too, from the outermost to the innermost one shown.
  Frame = Struct.new(:path, :line, :name, :binding, :iseq, :receiver, :height)

  # Reads the stacks of threads.
  module Frames
    NESTED = /\A(?:block\b.* in )+/.freeze
    # A rescue clause has a frame of its own, above its method's.
    CLAUSE = /\A(?:rescue|ensure) in /.freeze
    ARGUMENTS_MAX = 1000
    @arguments = {}.compare_by_identity # by a frame's code

    class << self
      # The current thread's frames. Those of Ruby's own methods, in C or in `<internal:…>`, are left
      # out; `with_native` keeps the innermost, which is what a thread waits in, with its caller's
      # variables and without code of its own.
      def capture(with_native: false)
        frames = FrameCapture.capture_frames
        frames.shift while frames.first && own?(frames.first.location)
        ours = frames.select { |one| in_ruby?(one) && !own?(one.location) }
        shown = ours.each_with_index.reject { |one, at| at.positive? && clause_of?(ours[at - 1], one) }
                    .map { |one, _| convert(one) }
        shown.first.height = frames.size - frames.index { |one| one.iseq.equal?(shown.first.iseq) } if shown.any?
        native = with_native && frames.first && !in_ruby?(frames.first) && convert(frames.first)
        return shown unless native

        native.binding, native.iseq = shown.first&.binding, nil
        [native, *shown]
      end

      # The frames of a thread that cannot be asked: places without values.
      def read_locations(thread)
        (thread.backtrace_locations || []).reject { |one| own?(one) }.map do |one|
          Frame.new(find_path(one), one.lineno, one.label, nil, nil, nil)
        end
      end

      # The locals that are a frame's arguments; of the same code they are read once.
      def argument_names(frame)
        return [] unless frame.iseq

        @arguments.clear if @arguments.size > ARGUMENTS_MAX
        @arguments[frame.iseq] ||= begin
          _, _, _, _, facts, *, locals, _, _, _ = frame.iseq.to_a
          locals.first(facts[:arg_size]).grep(Symbol)
        end
      end

      private

      def own?(location)
        (location.absolute_path || location.path || "").start_with?(FOLDER, "(debugger")
      end

      def in_ruby?(one)
        one.iseq && !one.location.path.start_with?("<internal:")
      end

      def clause_of?(inner, outer)
        label = inner.location.label
        CLAUSE.match?(label) && label.sub(CLAUSE, "") == outer.location.label
      end

      # What a program evaluates with a file's name has a path as it was given.
      def find_path(location)
        path = location.absolute_path || location.path
        path.start_with?("/") || !File.file?(path) ? path : File.expand_path(path)
      end

      def convert(one)
        location = one.location
        path = find_path(location)
        Frame.new(path, location.lineno, name_frame(one), one.binding, one.iseq, one.self)
      end

      # `Order#total`, `Order.find`, `block in Order#total`, `total` of the main program.
      def name_frame(one)
        label = one.location.label.sub(CLAUSE, "")
        return label if label.start_with?("<")

        method = one.location.base_label
        return label if method.start_with?("<")

        owner = name_owner(one)
        (label[NESTED] || "") + (owner ? "#{owner}#{method}" : method)
      end

      def name_owner(one)
        return nil if one.class.nil?
        return "#{ClassNames.of(one.self) || one.self}." if one.class.singleton_class? && Module === one.self

        name = ClassNames.of(one.class)
        name && name != "Object" && name != "Kernel" ? "#{name}#" : nil
      end
    end
  end
end
