# SPDX-License-Identifier: Apache-2.0
"""check-translation.py LANGUAGE: the translation is complete, fits the sources
as they are now, and keeps every placeholder and mnemonic."""

import os
import subprocess
import sys
import tempfile

import project

# The keywords of meson's i18n.gettext(preset: 'glib').
XGETTEXT = ['xgettext', '--from-code=UTF-8', '--keyword=_', '--keyword=N_',
            '--keyword=C_:1c,2', '--keyword=NC_:1c,2',
            '--keyword=g_dcgettext:2', '--keyword=g_dngettext:2,3',
            '--keyword=g_dpgettext2:2c,3']

problems = []


def demand(complaint, command):
    result = subprocess.run(command, cwd=project.ROOT, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env={**os.environ, 'LC_ALL': 'C.UTF-8'})
    if result.returncode:
        problems.append(result.stdout.decode(errors='replace') + complaint)


po = f'po/{sys.argv[1]}.po'
with tempfile.TemporaryDirectory() as folder:
    pot = os.path.join(folder, 'now.pot')
    demand('the texts cannot be collected',
           XGETTEXT + ['--files-from=po/POTFILES.in', f'--output={pot}'])
    demand(f'{po} is wrong', ['msgfmt', '--check', '--check-accelerators=_',
                              '--output-file=/dev/null', po])
    demand(f'{po} is not complete', ['msgcmp', po, pot])
    demand(f'{po} holds what is no longer used',
           ['msgcmp', '--use-untranslated', pot, po])
if '\n#~ ' in project.read(po):
    problems.append(f'{po} keeps obsolete texts')
if problems:
    problems.append('to bring it up to date: ninja -C build '
                    'quartermaster-update-po')
project.conclude(problems, [po])
