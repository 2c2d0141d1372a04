# SPDX-License-Identifier: Apache-2.0
"""check-suites.py BUILD: every test is in the suite of its room, and says where
it can run, so that ./dev quick and ./dev test find it."""

import json
import os
import sys

import project

ROOMS = {'data', 'kernels', 'engine', 'bench', 'pricing', 'plot', 'cli', 'ui',
         'project'}
PLACES = {'host', 'display', 'gpu', 'project'}

with open(os.path.join(sys.argv[1], 'meson-info', 'intro-tests.json'),
          encoding='utf-8') as file:
    tests = json.load(file)

problems = []
for test in tests:
    suites = {suite.partition(':')[2] or suite for suite in test['suite']}
    rooms = suites & ROOMS
    # Those of another room may look at the project's files, too.
    if len(rooms) != 1 and len(rooms - {'project'}) != 1:
        problems.append(f"{test['name']}: is in no room, or in several: "
                        f"{', '.join(sorted(suites))}")
    if not suites & PLACES:
        problems.append(f"{test['name']}: none of {', '.join(sorted(PLACES))}")
project.conclude(problems, tests)
