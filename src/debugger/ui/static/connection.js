// Talks to the page's server: one live stream of events, requests and commands as JSON.

const EVENTS = ["hello", "overview", "gone", "lost", "session", "output", "stopped", "continued",
  "breakpoint", "invalidated", "process", "exited", "terminated", "capabilities"];

export class Failure extends Error {
  constructor(error) {
    super(error.hint ? `${error.message}; ${error.hint}` : error.message);
    this.code = error.code;
  }
}

export class Connection {
  /** `listen(name, data, id)` is called for each event; `onState` with true or false. */
  constructor(listen, onState) {
    this.listen = listen;
    this.onState = onState;
    this.stream = null;
    this.source = null;
    this.since = "0";
    // The key stays with the tab: after a reload the page is still the one that took over.
    this.key = sessionStorage.getItem("key") ?? crypto.randomUUID();
    sessionStorage.setItem("key", this.key);
    window.addEventListener("pagehide", () => this.source?.close());
  }

  /** Follows a session; null for the current one. */
  follow(session) {
    this.source?.close();
    const query = new URLSearchParams({ key: this.key, since: this.since });
    if (session) query.set("session", session);
    const source = new EventSource(`/events?${query}`);
    this.source = source;
    for (const name of EVENTS) {
      source.addEventListener(name, (event) => {
        if (source !== this.source) return;
        if (event.lastEventId) this.since = event.lastEventId;
        const data = JSON.parse(event.data);
        if (name === "hello") {
          this.stream = data.stream;
          this.onState(true);
        }
        this.listen(name, data, event.lastEventId);
      });
    }
    source.addEventListener("error", () => {
      if (source !== this.source) return;
      this.stream = null;
      this.onState(false);
      // A refused stream is not tried again by the browser itself.
      if (source.readyState === EventSource.CLOSED) {
        setTimeout(() => source === this.source && this.follow(session), 2000);
      }
    });
  }

  /** Lets go of the stream, until `follow` is called again. */
  pause() {
    this.source?.close();
    this.source = null;
    this.stream = null;
  }

  request(command, args = {}) {
    return this.post("/request", { stream: this.stream, command, arguments: args });
  }

  command(command, session, args = {}) {
    return this.post("/command", { command, session, arguments: args });
  }

  /** Reads the trees of the calls of an answer. */
  readPicture(number) {
    return this.exchange(`/picture/${number}.json`, { method: "GET" });
  }

  post(path, body) {
    return this.exchange(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  }

  async exchange(path, options) {
    let answer;
    try {
      const response = await fetch(path, options);
      answer = await response.json();
    } catch {
      throw new Failure({ code: "NO_CONNECTION", message: "the page's server does not answer" });
    }
    if (answer.error) throw new Failure(answer.error);
    return answer.body;
  }
}
