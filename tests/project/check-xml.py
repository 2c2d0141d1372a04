# SPDX-License-Identifier: Apache-2.0
"""check-xml.py XMLLINT: every XML file is well-formed, and every icon is a
drawing of the size that icon themes expect."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import project

ICON_SIDES = {'-symbolic.svg': '16', 'Quartermaster.svg': '128'}


def icon_problems(name):
    root = ElementTree.fromstring(project.read(name))
    for ending, side in ICON_SIDES.items():
        if name.endswith(ending) and (
                root.get('width'), root.get('height'),
                root.get('viewBox')) != (side, side, f'0 0 {side} {side}'):
            yield f'{name}: the canvas is not {side} × {side}'
            return


names = project.files('.svg', '.ui', '.xml', '.xml.in')
problems = []
for name in names:
    result = subprocess.run([sys.argv[1], '--noout', '--nonet', name],
                            cwd=project.ROOT, check=False)
    if result.returncode:
        problems.append(f'{name}: is not well-formed')
    elif name.endswith('.svg'):
        problems += icon_problems(name)
project.conclude(problems, names)
