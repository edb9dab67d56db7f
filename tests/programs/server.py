"""Answers each request, on a port that is free."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"served")


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", 0), Handler).serve_forever()
