# SPDX-License-Identifier: Apache-2.0
"""po/POTFILES.in lists every file with something to translate, once and in
order, and nothing else."""

import re

import project

MARKS = {
    ('.c', '.h'): re.compile(r'(?<!\w)(_|N_|C_|NC_|ngettext|g_dngettext)\s*\('),
    ('.ui',): re.compile(r'\btranslatable="(yes|true|1)"'),
    ('.gschema.xml', '.desktop.in', '.metainfo.xml.in'): re.compile(''),
}


def has_text(name):
    return any(name.endswith(endings) and mark.search(project.read(name))
               for endings, mark in MARKS.items())


needed = {name for name in project.files()
          if not name.startswith('tests/') and has_text(name)}
listed = [line for line in project.read('po/POTFILES.in').splitlines()
          if line and not line.startswith('#')]
problems = [f'po/POTFILES.in: {name} is missing'
            for name in sorted(needed - set(listed))]
problems += [f'po/POTFILES.in: {name} has nothing to translate'
             for name in sorted(set(listed) - needed)]
if listed != sorted(set(listed)):
    problems.append('po/POTFILES.in: sort the names, each once')
project.conclude(problems, needed)
