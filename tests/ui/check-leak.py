# SPDX-License-Identifier: Apache-2.0
"""check-leak.py LOSE-MEMORY: what a window of ours loses is found, and nothing
that a driver or the toolkit lost stands beside it."""

import subprocess
import sys

done = subprocess.run(sys.argv[1:], stderr=subprocess.PIPE, text=True,
                      check=False)
found = [line for line in done.stderr.splitlines() if 'leak of ' in line]
if (done.returncode == 0 or len(found) != 1
        or 'Direct leak of 4321 byte(s) in 1 object(s)' not in found[0]):
    sys.exit(f'exit status {done.returncode}\n{done.stderr}')
