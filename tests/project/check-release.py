# SPDX-License-Identifier: Apache-2.0
"""check-release.py VERSION METAINFO NEWS: what a software centre shows is the
release that this is, releases stand the newest first, and the news have the same,
of the same days."""

import datetime
import re
import sys
import xml.etree.ElementTree

import project

releases = list(xml.etree.ElementTree.fromstring(
    project.read(sys.argv[2]).encode()).iter('release'))
problems = []
if releases and releases[0].get('version') != sys.argv[1]:
    problems.append(f'{sys.argv[2]} begins with {releases[0].get("version")}, '
                    f'the project is {sys.argv[1]}')
dates = [release.get('date') for release in releases]
for date in dates:
    if not re.fullmatch(r'20\d\d-[01]\d-[0-3]\d', date or ''):
        problems.append(f'{sys.argv[2]}: {date} is no date')
if dates != sorted(dates, reverse=True):
    problems.append(f'{sys.argv[2]}: the newest release is not the first')
for release in releases:
    if not ''.join(release.itertext()).strip():
        problems.append(f'{sys.argv[2]}: nothing is said of '
                        f'{release.get("version")}')

news = re.findall(r'^## (\S+) \((\d+ \w+ \d{4})\)$', project.read(sys.argv[3]),
                  re.MULTILINE)
told = [(version, datetime.datetime.strptime(day, '%d %B %Y').date().isoformat())
        for version, day in news]
known = [(one.get('version'), one.get('date')) for one in releases]
if told != known:
    problems.append(f'{sys.argv[3]} has the releases {told}, {sys.argv[2]} '
                    f'{known}')
project.conclude(problems, releases)
