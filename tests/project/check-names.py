# SPDX-License-Identifier: Apache-2.0
"""Functions that only their file knows have names that say what they do there:
none stands in more than three files.  Where several do the same, one function
for all of them has to be made of it."""

import collections
import re

import project

MOST = 3
HEAD = re.compile(r'^static (?:inline )?[^;={}()]*\n(\w+) \(', re.MULTILINE)

files = collections.defaultdict(set)
for path in project.files('.c', '.h', '.cu', '.cuh'):
    if not path.startswith('tests/'):
        for name in HEAD.findall(project.read(path)):
            files[name].add(path)
project.conclude(
    [f'{name}() stands in {len(paths)} files: {", ".join(sorted(paths))}'
     for name, paths in sorted(files.items()) if len(paths) > MOST], files)
