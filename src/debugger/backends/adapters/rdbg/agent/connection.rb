# frozen_string_literal: true

module DebuggerAgent
  # The connection to the debugger: messages with a length before them (DAP: base protocol).
  class Connection
    def initialize(path)
      @socket = UNIXSocket.new(path)
      @number = 0
      # What cannot be written at once a thread of its own writes: the handler of a signal may send
      # while its thread writes, and may not wait for a mutex. It is in the outbox until it is written.
      @outbox = []
      @bell = Queue.new
      @writing = Mutex.new
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
      message = { type: "event", event: name, body: body }
      name == "stopped" ? post_now(message) : post(message)
    end

    # A request of our own, which nobody has sent, takes its answer itself.
    def answer(request, body = {})
      return request["taken"] << body if request.key?("taken")

      post({ type: "response", command: request["command"], request_seq: request["seq"], success: true, body: body })
    end

    # Answers a request to step before the step begins. Not so any other: a main thread that waits in
    # Ractor#take is not woken by the signal of a pause whose thread has just written (Ruby 3.1).
    def answer_step(request)
      post_now({ type: "response", command: request["command"], request_seq: request["seq"], success: true })
    end

    def refuse(request, message)
      return if request.key?("taken")

      post({ type: "response", command: request["command"], request_seq: request["seq"], success: false, message: message })
    end

    # Waits until all that was sent before is written.
    def flush
      done = Queue.new
      post(done)
      done.pop unless @bell.closed?
    end

    # Lets go of a connection that is the parent's: its threads do not live here.
    def abandon
      @bell.close
      @socket.close
    rescue IOError
      nil
    end

    def close
      @bell.close
      @socket.close
    rescue IOError
      nil
    end

    private

    def post(message)
      @outbox << message
      @bell << true
    rescue ClosedQueueError
      nil
    end

    # Writes on the thread that sends: what a step waits for comes without a change of threads. No
    # exception of the program's (Timeout) cuts a message in two.
    def post_now(message)
      Thread.handle_interrupt(Object => :never) do
        return post(message) unless @outbox.empty? && @writing.try_lock

        begin
          write_message(message)
        ensure
          @writing.unlock
        end
      end
    rescue IOError, SystemCallError
      nil
    end

    def write_messages
      @writing.synchronize { write_outbox } while @bell.pop
    rescue IOError, SystemCallError
      @bell.close
      @outbox.each { |one| one << true if one.is_a?(Queue) }
    rescue ThreadError, NoMethodError
      nil
    end

    def write_outbox
      while (message = @outbox.first)
        message.is_a?(Queue) ? message << true : write_message(message)
        @outbox.shift
      end
    end

    def write_message(message)
      text = Json.encode({ seq: @number += 1 }.merge(message))
      @socket.write("Content-Length: #{text.bytesize}\r\n\r\n#{text}")
    end
  end

  AGENT_THREADS = [] # rubocop:disable Style/MutableConstant
end
