# frozen_string_literal: true

module DebuggerAgent
  # The connection to the debugger: messages with a length before them (DAP: base protocol).
  class Connection
    def initialize(path)
      @socket = UNIXSocket.new(path)
      @number = 0
      # A thread of its own writes: the handler of a signal may send, and may not lock a mutex.
      @outbox = Queue.new
      @writer = start_thread("debugger writer") { write_messages }
    end

    def start_thread(name, &block)
      thread = Thread.new(&block)
      thread.name = name
      thread.report_on_exception = false
      AGENT_THREADS.select!(&:alive?)
      AGENT_THREADS << thread
      thread
    end

    # Yields each request until the debugger is gone.
    def read_requests
      while (header = @socket.gets("\r\n\r\n"))
        length = header[/Content-Length: (\d+)/, 1].to_i
        yield Json.decode(@socket.read(length).force_encoding(Encoding::UTF_8))
      end
    rescue IOError, SystemCallError
      nil
    end

    def send_event(name, body = {})
      @outbox << { type: "event", event: name, body: body }
    end

    # A request of our own, which nobody has sent, takes its answer itself.
    def answer(request, body = {})
      return request["taken"] << body if request.key?("taken")

      @outbox << { type: "response", command: request["command"], request_seq: request["seq"],
                   success: true, body: body }
    end

    def refuse(request, message)
      return if request.key?("taken")

      @outbox << { type: "response", command: request["command"], request_seq: request["seq"],
                   success: false, message: message }
    end

    # Waits until all that was sent before is written.
    def flush
      done = Queue.new
      @outbox << done
      done.pop unless @outbox.closed?
    end

    # Lets go of a connection that is the parent's: its threads do not live here.
    def abandon
      @outbox.close
      @socket.close
    rescue IOError
      nil
    end

    def close
      @outbox << nil unless @outbox.closed?
      @socket.close
    rescue IOError
      nil
    end

    private

    def write_messages
      while (message = @outbox.pop)
        next message << true if message.is_a?(Queue)

        text = Json.encode({ seq: @number += 1 }.merge(message))
        @socket.write("Content-Length: #{text.bytesize}\r\n\r\n#{text}")
      end
    rescue IOError, SystemCallError
      @outbox.close
      @outbox.pop(true) << true until @outbox.empty?
    rescue ThreadError, NoMethodError
      nil
    end
  end

  AGENT_THREADS = [] # rubocop:disable Style/MutableConstant
end
