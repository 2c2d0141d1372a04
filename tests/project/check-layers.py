# SPDX-License-Identifier: Apache-2.0
"""A room includes only rooms below it, and only the libraries of its floor."""

import re

import project

# From the top; pricing/ and engine/ stand side by side.
MAY_INCLUDE = {
    'app': {'app', 'ui', 'pricing', 'engine', 'kernels', 'data'},
    'ui': {'ui', 'pricing', 'data'},
    'pricing': {'pricing', 'data'},
    'engine': {'engine', 'kernels', 'data'},
    'kernels': {'kernels', 'data'},
    'data': {'data'},
}

# Headers that only the files under these folders may include.
RESERVED = [
    (r'(glib|gio|gobject|gmodule)[-./]', ('app/', 'ui/', 'pricing/')),
    (r'(cairo|pango)', ('app/', 'ui/')),
    (r'(gtk/|gdk|gsk/|adwaita)', ('app/', 'ui/')),
    (r'(cuda|cublas|cudnn|cufft|curand|nccl|nvml|nvrtc)',
     ('kernels/cuda/',)),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def problems_of(name, text):
    room = name.split('/')[0]
    for match in INCLUDE.finditer(text):
        quote, header = match.groups()
        line = text.count('\n', 0, match.start(2)) + 1
        target = header.split('/')[0]
        if quote == '"' and header != 'config.h':
            if target not in MAY_INCLUDE:
                yield (f'{name}:{line}: "{header}" is not written from the '
                       'root of the project')
            elif target not in MAY_INCLUDE[room]:
                yield f'{name}:{line}: {room}/ may not include {target}/'
        for pattern, folders in RESERVED:
            if (quote == '<' and re.match(pattern, header)
                    and not name.startswith(folders)):
                yield (f'{name}:{line}: <{header}> belongs to '
                       f'{", ".join(folders)}')


sources = [name for name in project.files('.c', '.h', '.cu', '.cuh')
           if name.split('/')[0] in MAY_INCLUDE]
project.conclude([problem for name in sources
                  for problem in problems_of(name, project.read(name))],
                 sources)
