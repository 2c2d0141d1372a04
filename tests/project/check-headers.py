# SPDX-License-Identifier: Apache-2.0
"""Headers that another folder includes say what their functions do: a comment
stands above each declaration, or above the group without empty lines that it
is in."""

import os
import re

import project

INCLUDE = re.compile(r'^#include "(.+?)"', re.MULTILINE)

# Says it all.
PLAIN = re.compile(r'\b\w+_(free|get_type|error_quark) \(')
FUNCTION = re.compile(r'^[A-Za-z_][\w\s*]*?\b(qm_\w+) \(', re.MULTILINE)


def problems_of(name, text):
    line = 1
    for paragraph in text.split('\n\n'):
        body = re.sub(r'/\*.*?\*/', '', paragraph, flags=re.DOTALL)
        functions = [match.group(1) for match in FUNCTION.finditer(body)
                     if not PLAIN.search(match.group(0))]
        if (functions and not paragraph.lstrip().startswith('/*')
                and ';' in body and 'static' not in body):
            yield (f'{name}:{line}: nothing says what '
                   f'{", ".join(functions)} do')
        line += paragraph.count('\n') + 2


public = {header
          for name in project.files('.c', '.h', '.cu')
          for header in INCLUDE.findall(project.read(name))
          if os.path.dirname(header) != os.path.dirname(name)
          and not name.startswith('tests/')}
headers = [name for name in project.files('.h') if name in public]
project.conclude([problem for name in headers
                  for problem in problems_of(name, project.read(name))],
                 headers)
