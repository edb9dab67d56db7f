"""An application for gunicorn."""


def app(environ, start_response):
    path = environ["PATH_INFO"]
    body = f"hello {path}".encode()  # @body
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
