# frozen_string_literal: true

module DebuggerAgent
  # Names of classes and modules. A program may define `self.name` or `self.to_s` for something else
  # (REXML::Functions.name is XPath's name()), so Ruby's own methods are called.
  module ClassNames
    NAME = Module.instance_method(:name)
    CLASS_OF = Kernel.instance_method(:class)

    class << self
      # The name of a class or module; nil without one.
      def of(type)
        NAME.bind_call(type)
      end

      # The classes and modules that a call may be written with: the receiver's, and those that it
      # inherits from, up to the one that defines the method.
      def callable_classes(receiver, defining)
        is_class_method = Module === receiver
        type = is_class_method ? receiver : CLASS_OF.bind_call(receiver)
        inherited = type.ancestors
        last = inherited.index do |one|
          one.equal?(defining) || (is_class_method && one.singleton_class.equal?(defining))
        end
        found = inherited.first((last || 0) + 1)
        defining.nil? || defining.singleton_class? ? found : found | [defining]
      end
    end
  end
end
