# SPDX-License-Identifier: Apache-2.0
"""What stands in for httpd in the unit tests: it notes what it is asked, and answers what the test has put into `answers`."""
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl


class Httpd:
    def __init__(self):
        self.asked = []     # (path, form, headers)
        self.answers = []   # (status, headers, body) in turn; then 200
        self.connections = set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # an answer is one packet

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                outer.asked.append((self.path, dict(parse_qsl(body)), self.headers))
                outer.connections.add(self.client_address)
                status, headers, body = outer.answers.pop(0) if outer.answers else (200, {}, b'{"held":true}')
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if status != 204:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/vault"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    @property
    def notified(self):
        return [form["interest"] for path, form, _ in self.asked if path == "/vault/notify"]
