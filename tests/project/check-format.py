# SPDX-License-Identifier: Apache-2.0
"""check-format.py CLANG-FORMAT: every source is laid out by .clang-format."""

import re
import subprocess
import sys

import project

# Each version lays some lines out otherwise; this one decides.
VERSION = '14'

text = subprocess.run([sys.argv[1], '--version'], stdout=subprocess.PIPE,
                      text=True, check=True).stdout
found = re.search(r'version (\d+)', text)
if found is None or found[1] != VERSION:
    print(f'clang-format {VERSION} decides the layout; this is: {text.strip()}',
          file=sys.stderr)
    sys.exit(77)  # meson: skipped

sources = project.files('.c', '.h', '.cu', '.cuh')
result = subprocess.run([sys.argv[1], '--dry-run', '--Werror', '--style=file',
                         *sources], cwd=project.ROOT, check=False)
project.conclude(['to lay a file out: clang-format -i FILE']
                 if result.returncode else [], sources)
