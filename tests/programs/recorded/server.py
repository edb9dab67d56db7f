import http.server, threading, urllib.request, json
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.answer(self.path)
        self.send_response(200); self.end_headers(); self.wfile.write(body)
    def answer(self, path):
        return json.dumps({"path": path, "n": len(path)}).encode()
    def log_message(self, *a): pass
def main():
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    t = threading.Thread(target=s.serve_forever); t.start()
    for i in range(5):
        print(urllib.request.urlopen("http://127.0.0.1:%d/%s" % (s.server_port, "x" * i)).read())
    s.shutdown(); t.join(); s.server_close()
main()
