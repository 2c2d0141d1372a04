# SPDX-License-Identifier: Apache-2.0
"""check-format.py CLANG-FORMAT: every source is laid out by .clang-format."""

import subprocess
import sys

import project

sources = project.files('.c', '.h', '.cu', '.cuh')
result = subprocess.run([sys.argv[1], '--dry-run', '--Werror', '--style=file',
                         *sources], cwd=project.ROOT, check=False)
project.conclude(['to lay a file out: clang-format -i FILE']
                 if result.returncode else [], sources)
