#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for qm-bench, and misbehaves as its first argument says."""

import json
import os
import signal
import subprocess
import sys
import time

LONG = 3600


def say(*objects):
    for thing in objects:
        print(json.dumps(thing), flush=True)


def write(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def ignore(*numbers):
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def start_child(path, **options):
    """A child that would live on, and tells where it is."""
    child = subprocess.Popen(['sleep', str(LONG)], **options)
    with open(path, 'w', encoding='ascii') as file:
        file.write(f'{os.getpid()} {child.pid}\n')


def main(what, value):
    if what == 'answer':
        say({'n': 1}, {'n': 2, 'text': '\u00fc'})
    elif what == 'nothing':
        pass
    elif what == 'silence':
        time.sleep(LONG)
    elif what == 'deaf':
        ignore(signal.SIGINT, signal.SIGTERM)
        say({'n': 1})
        time.sleep(LONG)
    elif what == 'slow-to-stop':
        ignore(signal.SIGINT)
        say({'n': 1})
        time.sleep(LONG)
    elif what == 'garbage':
        say({'n': 1})
        write(b'\x00\xff\xfe what is this\n')
        time.sleep(LONG)
    elif what == 'bad-utf8':
        write(b'{"n": "\xff\xfe"}\n')
        time.sleep(LONG)
    elif what == 'no-object':
        write(b'[1, 2]\n')
        time.sleep(LONG)
    elif what == 'deep':
        write(b'{"a":' * 40000 + b'\n')
        time.sleep(LONG)
    elif what == 'pieces':
        for byte in b'{"n": 1}\n{"n"':
            write(bytes([byte]))
            time.sleep(0.005)
        time.sleep(0.1)
        write(b': 2}\n{"n": 3}')
    elif what == 'broken-off':
        write(b'{"n": 1}\n{"n": ')
    elif what == 'large':
        say({'text': 'x' * 200000})
    elif what == 'huge':
        write(b'{"text": "' + b'x' * 4000000 + b'"}\n')
        time.sleep(LONG)
    elif what == 'endless-line':
        while True:
            write(b'x' * 65536)
    elif what == 'endless':
        line = b'{"n": 1}\n' * 8192
        while True:
            write(line)
    elif what == 'endless-log':
        say({'n': 1})
        while True:
            sys.stderr.write('x\x1b[2J' * 8192 + '\n')
    elif what == 'signal':
        say({'n': 1})
        print('qm-bench: last words', file=sys.stderr, flush=True)
        os.kill(os.getpid(), int(value))
        time.sleep(LONG)
    elif what == 'exit':
        say({'n': 1})
        print('some remark\nqm-bench: the \x1b[1mreason\nand \xff more',
              file=sys.stderr, flush=True)
        sys.exit(int(value))
    elif what == 'quiet-exit':
        sys.exit(int(value))
    elif what == 'closed':
        say({'n': 1})
        os.close(1)
        time.sleep(LONG)
    elif what == 'child':
        start_child(value)
        say({'n': 1})
        time.sleep(LONG)
    elif what == 'leaves-child':
        start_child(value)
        say({'n': 1})
    elif what == 'leaves-daemon':
        start_child(value, start_new_session=True)
        say({'n': 1})
    else:
        sys.exit(f'stand-in-bench: no way to misbehave is {what}')


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else '')
