# frozen_string_literal: true

module DebuggerRecorder
  # The records of one process: those of the end are kept, or those of the beginning.
  class Journal
    attr_reader :dropped

    # With `is_last` the last records are kept, at least `most` of them; the rest is dropped.
    def initialize(folder, most, is_last:)
      @folder = folder
      @most = most
      @is_last = is_last
      @before = []
      @records = []
      @lasting = []
      @dropped = 0
    end

    # A record that is kept in any case.
    def keep(*record)
      @lasting << Values.encode(record)
    end

    def keep_text(text)
      @lasting << text
    end

    def add(*record)
      if @records.size >= @most
        unless @is_last
          @dropped += 1
          return
        end
        @dropped += @before.size
        @before = @records
        @records = []
      end
      @records << Values.encode(record)
    end

    def full?
      !@is_last && @records.size >= @most
    end

    def write(ends)
      path = File.join(@folder, "#{Process.pid}-#{object_id}.jsonl")
      File.write(path, [*@lasting, *@before, *@records, *ends.map { |one| Values.encode(one) }].join("\n") << "\n")
    rescue SystemCallError
      nil
    end
  end
end
