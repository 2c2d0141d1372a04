# SPDX-License-Identifier: Apache-2.0
"""What the checks of the project's own files share."""

import os
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), '..', '..'))


def _walk():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders
                      if name not in ('.git', '.cache', '__pycache__', 'build')
                      and not name.startswith('build-')]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), ROOT)


def files(*endings):
    """The project's files, relative to ROOT: the tracked ones of a clone, else
    everything that was unpacked."""
    listing = None
    if os.path.exists(os.path.join(ROOT, '.git')):
        # The clone may belong to somebody else than who runs the tests.
        listing = subprocess.run(
            ['git', '-c', f'safe.directory={ROOT}', '-C', ROOT, 'ls-files',
             '-z'], stdout=subprocess.PIPE, check=False)
    if listing is not None and listing.returncode == 0:
        names = os.fsdecode(listing.stdout).split('\0')
    else:
        names = list(_walk())
    # What a link leads to is looked at where it is.
    names = sorted(name for name in names
                   if name and os.path.exists(os.path.join(ROOT, name))
                   and not os.path.islink(os.path.join(ROOT, name)))
    return [name for name in names if not endings or name.endswith(endings)]


def read(name):
    with open(os.path.join(ROOT, name), encoding='utf-8') as file:
        return file.read()


def conclude(problems, looked_at):
    """Ends the check.  One that looked at nothing has not passed."""
    if not looked_at:
        problems = ['there was nothing to check']
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)
