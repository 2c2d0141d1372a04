# SPDX-License-Identifier: Apache-2.0
"""Web pages on this machine, for tests of the command line and the window."""

import http.server
import threading

RATES = """<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01"
 xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<gesmes:subject>Reference rates</gesmes:subject>
<Cube><Cube time='%s'><Cube currency='USD' rate='1.2500'/>
<Cube currency='DKK' rate='7.5'/></Cube></Cube></gesmes:Envelope>
"""

PAGE = """<!DOCTYPE html><html><head><title>Shop</title>
<script type="application/ld+json">{"@context": "https://schema.org",
"@type": "Product", "name": "NVIDIA H100 80GB SXM5", "offers":
{"@type": "Offer", "price": "%s", "priceCurrency": "USD"}}</script></head>
<body><h1>NVIDIA H100 80GB SXM5</h1><p>$%s</p></body></html>
"""


class Site:
    """A web page on this machine: `answer` takes the request's handler and
    returns status, headers and text."""

    def __init__(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, headers, body = answer(self)
                body = body.encode("utf-8")
                self.send_response(status)
                headers.setdefault("Content-Type", "text/html; charset=utf-8")
                headers.setdefault("Content-Length", str(len(body)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(body)
                except BrokenPipeError:
                    pass

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.address = "http://127.0.0.1:%d/page" % self.server.server_port

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()
        return self

    def __exit__(self, *arguments):
        self.server.shutdown()
        self.server.server_close()
