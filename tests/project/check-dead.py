# SPDX-License-Identifier: Apache-2.0
"""check-dead.py BUILD NM CC...: every public function is called by the product.

What nobody calls, or tests alone, is dead; what its own file alone calls is
static, unless a test calls it, too.  Calls of other files are those that their
objects refer to, and what is written in files that this build leaves out, such
as kernels for GPUs; those of a function's own file are found in its text."""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import project

ROOMS = ('app/', 'ui/', 'pricing/', 'engine/', 'kernels/', 'data/')

# Of these a reference says nothing: main() is the system's, the type of a class
# is there for each, and the macros that make quarks are all that names these.
ANYWAY = re.compile(r'main$|\w+_(get_type|error_quark)$')

# name: why nothing in the product calls it.
ALLOWED = {
    'qm_constant_name': 'what tests/prediction/ writes data/calibration.csv '
                        'with; the product reads that file',
    'qm_cuda_prefer': "tests hold our products against the library's with it, "
                      'of which the product takes the faster one',
}

DEAD = 'nothing calls it'
TESTED = 'tests alone call it'
OWN = 'its own file alone calls it: static'

COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.DOTALL)
WORD = re.compile(r'\b[A-Za-z_]\w*\b')

# A product of two files that are built and one that is not, and a test.
SAMPLE = {
    'one.h': 'int used (void), own (void), looked_into (void), dead (int),\n'
             '    tested (void), unbuilt (void);\n',
    'one.c': """
#include "one.h"
int
own (void)
{
  return 1;
}
int
looked_into (void)
{
  return 2;
}
int
used (void)
{
  return own () + looked_into ();
}
int
dead (int n)
{
  return n > 0 ? dead (n - 1) : 3; /* dead () */
}
int
tested (void)
{
  return 4;
}
int
unbuilt (void)
{
  return 5;
}
""",
    'two.c': '#include "one.h"\nint main (void) { return used (); }\n',
    'test.c': '#include "one.h"\n'
              'static int test (void) { return tested () + looked_into (); }\n',
    'gpu.cu': '// dead ()\nint f () { return unbuilt (); }\n',
}
FOUND = {'own': OWN, 'dead': DEAD, 'tested': TESTED}


def symbols(nm, objects):
    """The functions that each object defines, and the names it refers to."""
    defined = collections.defaultdict(set)
    wanted = collections.defaultdict(set)
    answer = subprocess.run([nm, '-A', '-P', *objects], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    for line in answer.splitlines():
        name, rest = line.rsplit(': ', 1)
        symbol, kind = rest.split()[:2]
        if kind == 'T':
            defined[name].add(symbol)
        elif kind == 'U':
            wanted[name].add(symbol)
    return defined, wanted


def words(text):
    return set(WORD.findall(COMMENT.sub(' ', text)))


def dead(nm, product, unbuilt, tests):
    """The public functions that no other file of the product calls, and what is
    the matter with each.  `product` has the text of each object's source,
    `unbuilt` those of sources that have no object."""
    defined, wanted = symbols(nm, product)
    callers = collections.Counter(
        symbol for names in wanted.values() for symbol in names)
    tested = set().union(*map(words, tests))
    spared = set().union(*map(words, unbuilt))
    for name, text in product.items():
        text = COMMENT.sub(' ', text)
        for symbol in sorted(defined[name]):
            if callers[symbol] or symbol in spared or ANYWAY.match(symbol):
                continue
            # Its definition, whose name begins a line, is no call of it.
            rest = re.sub(rf'^{symbol} \(.*?^}}', '', text,
                          flags=re.MULTILINE | re.DOTALL)
            own = re.search(rf'\b{symbol}\b', rest)
            if symbol not in tested:
                yield symbol, OWN if own else DEAD
            elif not own:
                yield symbol, TESTED


def check_sample(nm, compiler):
    """What is dead is found, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        objects = {}
        for name, text in SAMPLE.items():
            source = os.path.join(folder, name)
            objects[name] = source + '.o'
            with open(source, 'w', encoding='utf-8') as file:
                file.write(text)
            if name in ('one.c', 'two.c'):
                subprocess.run([*compiler, '-c', source, '-o', source + '.o'],
                               check=True)
        found = dict(dead(nm, {objects[name]: SAMPLE[name]
                               for name in ('one.c', 'two.c')},
                          [SAMPLE['gpu.cu']], [SAMPLE['test.c']]))
    return [] if found == FOUND else [f'of the sample, this is dead: {found}']


def read_build(build):
    """The objects of the product, with their sources."""
    with open(os.path.join(build, 'meson-info', 'intro-targets.json'),
              encoding='utf-8') as file:
        targets = json.load(file)
    product = {}
    for target in targets:
        folder = target['filename'][0] + '.p'
        base = os.path.dirname(target['defined_in'])
        room = os.path.relpath(target['defined_in'], project.ROOT)
        for group in target['target_sources']:
            for source in group.get('sources', []):
                # The way meson names them.
                name = os.path.relpath(source, base).replace('/', '_') + '.o'
                path = os.path.join(folder, name)
                if room.startswith(ROOMS) and os.path.exists(path):
                    product[path] = os.path.relpath(source, project.ROOT)
    return product


def main():
    build, nm, *compiler = sys.argv[1:]
    problems = check_sample(nm, compiler)
    product = read_build(build)
    if not product:
        project.conclude(problems, False)
    texts = {name: project.read(name)
             for name in project.files('.c', '.h', '.cu', '.cuh')}
    # New ones are built before git knows them.
    strangers = set(product.values()) - texts.keys()
    if strangers:
        project.conclude([f'{name}: git does not know it; git add it'
                          for name in sorted(strangers)], True)
    found = dict(dead(
        nm, {path: texts[name] for path, name in product.items()},
        [texts[name] for name in texts if name.startswith(ROOMS)
         and not name.endswith('.h') and name not in product.values()],
        [texts[name] for name in texts if name.startswith('tests/')]))
    problems += [f'{symbol}: {trouble}' for symbol, trouble in found.items()
                 if symbol not in ALLOWED]
    built = set().union(*symbols(nm, product)[0].values())
    problems += [f'{symbol}: is called, and needs not be allowed'
                 for symbol in ALLOWED if symbol in built - found.keys()]
    project.conclude(problems, product)


main()
