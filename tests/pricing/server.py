# SPDX-License-Identifier: Apache-2.0
"""A web server on this machine's loopback that behaves well and badly.

Prints {"http": PORT, "https": PORT} when it is ready, and ends with its
standard input. Files come from the folder of the first argument, with {base}
in them replaced by the server's own address; the second one is the certificate
and key."""

import gzip
import http.server
import json
import os
import socketserver
import ssl
import sys
import threading
import time
import urllib.parse
import zlib

FILES, CERTIFICATE = sys.argv[1:]
MIB = 1 << 20
LAST_MODIFIED = 'Fri, 20 Nov 2026 08:00:00 GMT'
hits = {}


def bomb(size):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(MIB)
    return b''.join([packer.compress(block) for _ in range(size // MIB)]
                    + [packer.flush()])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *arguments):
        pass

    def base(self):
        scheme = 'https' if isinstance(self.connection, ssl.SSLSocket) else 'http'
        return f'{scheme}://127.0.0.1:{self.server.server_address[1]}'

    def answer(self, body, status=200, **headers):
        self.send_response(status)
        headers.setdefault('Content_Type', 'text/plain')
        headers.setdefault('Content_Length', len(body))
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.end_headers()
        self.wfile.write(body)

    def raw(self, text, body=b''):
        self.wfile.write(text.replace('\n', '\r\n').encode() + body)
        self.wfile.flush()
        self.close_connection = True

    def redirect(self, location, status=302):
        self.answer(b'over there', status, Location=location)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get('Content-Length', 0)))
        if self.path == '/post-redirect':
            self.redirect('/post', 307)
        elif self.path.startswith('/file/'):
            self.get()
        else:
            self.answer(self.headers['Content-Type'].encode() + b'\n' + body)

    def do_GET(self):
        try:
            self.get()
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    def get(self):
        hits[self.path] = hits.get(self.path, 0) + 1
        if self.path.startswith('http://'):
            return self.proxy()
        name, _, argument = self.path[1:].partition('/')
        method = getattr(self, 'get_' + name.partition('?')[0].replace('-', '_'),
                         None)
        if method is None:
            return self.answer(b'no such page', 404)
        return method(argument)

    def proxy(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == '/inwards':
            self.redirect('http://127.0.0.1:1/secret')
        elif url.path == '/by-name':
            self.redirect('http://localhost.:1/secret')
        elif url.path == '/private':
            self.redirect('http://10.0.0.1/secret')
        else:
            self.answer(b'through the proxy: ' + self.path.encode())

    def get_ok(self, _):
        if (self.headers.get('If-None-Match') == '"v1"'
                or self.headers.get('If-Modified-Since') == LAST_MODIFIED):
            self.send_response(304)
            self.send_header('ETag', '"v1"')
            self.end_headers()
            return
        self.answer(b'hello', Content_Type='Text/HTML; charset="ISO-8859-1"',
                    ETag='"v1"', Last_Modified=LAST_MODIFIED)

    def get_not_modified(self, _):
        self.send_response(304)
        self.end_headers()

    def get_redirect(self, n):
        self.redirect(f'/redirect/{int(n) - 1}' if int(n) > 1 else '/ok', 301)

    def get_to(self, _):
        query = urllib.parse.urlsplit(self.path).query
        self.redirect(urllib.parse.parse_qs(query)['url'][0])

    def get_nowhere(self, _):
        self.answer(b'', 302)

    def get_loop(self, _):
        self.redirect('/pool')

    def get_pool(self, _):
        self.redirect('/loop')

    def get_cookie(self, _):
        self.answer(b'', 302, Location='/echo', Set_Cookie='id=1; Path=/')

    def get_echo(self, _):
        self.answer(str(self.headers).encode())

    def get_hits(self, path):
        self.answer(str(hits.get('/' + path, 0)).encode())

    def get_status(self, n):
        self.answer(b'sorry', int(n))

    def get_busy(self, _):
        self.answer(b'', 429, Retry_After='120')

    def get_huge(self, _):
        self.answer(bytes(9 * MIB))

    def get_huge_unannounced(self, _):
        self.raw('HTTP/1.1 200 OK\nContent-Type: text/plain\n\n', bytes(9 * MIB))

    def get_packed(self, _):
        self.answer(gzip.compress(b'hello' * 1000), Content_Encoding='gzip')

    def get_bomb(self, _):
        self.answer(bomb(64 * MIB), Content_Encoding='gzip')

    def get_double_bomb(self, _):
        self.answer(gzip.compress(bomb(64 * MIB)),
                    Content_Encoding='gzip, gzip')

    def get_packed_badly(self, _):
        self.answer(b'this is not gzip at all', Content_Encoding='gzip')

    def get_drip(self, _):
        self.raw('HTTP/1.1 200 OK\nContent-Type: text/plain\n\n')
        for _ in range(200):
            time.sleep(0.1)
            self.wfile.write(b'x')
            self.wfile.flush()

    def get_slowly(self, _):
        self.raw('HTTP/1.1 200 OK\nContent-Length: 100000\n\n')
        for _ in range(10):
            self.wfile.write(bytes(10000))
            self.wfile.flush()
            time.sleep(0.05)

    def get_silent(self, _):
        time.sleep(20)

    def get_cut(self, _):
        self.raw('HTTP/1.1 200 OK\nContent-Length: 100\n\n', b'only this')

    def get_cut_chunks(self, _):
        self.raw('HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n',
                 b'5\r\nhello\r\n10\r\nwor')

    def get_nothing(self, _):
        self.close_connection = True

    def get_garbage(self, _):
        self.raw('', b'\x15\x03\x01 what is this\r\n\r\n')

    def get_long(self, _):
        self.raw('HTTP/1.1 200 OK\nContent-Length: 5\n\n', b'hello and more')

    def get_negative(self, _):
        self.raw('HTTP/1.1 200 OK\nContent-Length: -5\n\n', b'hello')

    def get_headers(self, _):
        self.raw('HTTP/1.1 200 OK\n')
        for i in range(20000):
            self.wfile.write(b'X-%d: %s\r\n' % (i, b'y' * 100))

    def get_bad_headers(self, _):
        self.raw('HTTP/1.1 200 OK\nContent-Type: \x01\x02;;charset\n'
                 'ETag: "\x7f"\nContent-Length: 5\n\n', b'hello')

    def get_no_colon(self, _):
        self.raw('HTTP/1.1 200 OK\nno colon here\n\n', b'hello')

    def get_early(self, _):
        self.raw('HTTP/1.1 103 Early Hints\nETag: "early"\n\n'
                 'HTTP/1.1 200 OK\nContent-Length: 5\n\n', b'hello')

    def get_file(self, name):
        path = os.path.join(FILES, os.path.basename(name.partition('?')[0]))
        if not os.path.isfile(path):
            return self.answer(b'no such file', 404)
        with open(path, 'rb') as file:
            body = file.read().replace(b'{base}', self.base().encode())
        return self.answer(body, Content_Type='application/octet-stream',
                           ETag='"%08x"' % zlib.crc32(body))


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass


def start(context=None):
    server = Server(('127.0.0.1', 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(CERTIFICATE)
print(json.dumps({'http': start(), 'https': start(tls)}), flush=True)
sys.stdin.read()
