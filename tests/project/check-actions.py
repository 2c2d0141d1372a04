# SPDX-License-Identifier: Apache-2.0
"""check-actions.py: every command of the window can be given without a mouse.

Each action of the program and the window has a keyboard shortcut or an entry in
a menu with a letter of its own, or needs to be told of what, as a button with the
keyboard does; no shortcut means two things, and all are in the
window that lists them; no letter occurs twice in a menu, in any language."""

import collections
import gettext
import io
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import project

# Of GTK.
BUILT_IN = {'win.show-help-overlay', 'window.close'}

APPLICATION = 'ui/qm-application.c'
OVERLAY = 'ui/help-overlay.ui'
NAME = r'"((?:win|app)\.[a-z-]+)"'


def actions():
    """The names of all actions of program and window."""
    found = {'app.color-scheme', 'win.show-sidebar'}  # of properties
    for name in SOURCES:
        text = project.read(name)
        found.update(re.findall(
            r'install_action \(\s*widget_class,\s*' + NAME, text))
        for table in re.findall(r'result_actions\[\] = \{(.*?)\}', text,
                                re.DOTALL):
            found.update('win.' + word
                         for word in re.findall(r'"([a-z-]+)"', table))
    found.update('app.' + name for name in re.findall(
        r'\{ \.name = "([a-z-]+)"', project.read(APPLICATION)))
    return found


def of_buttons():
    """Those with a target that buttons made in code say."""
    told = set(re.findall(r'\{ \.name = "([a-z-]+)",[^}]*\.parameter_type',
                          project.read(APPLICATION)))
    pressed = set()
    for name in SOURCES:
        text = project.read(name)
        if 'gtk_actionable_set_action_target (' in text:
            pressed.update(re.findall(
                r'gtk_actionable_set_action_name \([^;]*?' + NAME, text))
    return {f'app.{name}' for name in told} & pressed


def shortcuts():
    """Action, with its target -> its shortcuts."""
    table = re.search(r'shortcuts\[\] = \{(.*?)\n\};',
                      project.read(APPLICATION), re.DOTALL).group(1)
    return {action: re.findall(r'"([^"]+)"', keys) for action, keys in
            re.findall(r'\{ "([^"]+)", \{(.*?)\} \}', table, re.DOTALL)}


def entries(menu):
    """The labels and actions at the level of a menu, and the menus below."""
    for element in menu:
        attributes = {one.get('name'): one.text
                      for one in element.findall('attribute')}
        if element.tag in ('item', 'submenu'):
            yield attributes.get('label', ''), attributes.get('action')
        if element.tag == 'section':
            yield from entries(element)


def menus(name):
    root = ElementTree.fromstring(project.read(name))
    for kind in ('menu', 'submenu'):
        for menu in root.iter(kind):
            yield menu.get('id') or menu.find('attribute').text, menu


def letter(label):
    place = label.find('_')
    return label[place + 1:place + 2].lower() if place >= 0 else None


def translations():
    """Language -> what says a text in it."""
    found = {'en': lambda text: text}
    for name in project.files('.po'):
        compiled = subprocess.run(
            ['msgfmt', '-o', '-', os.path.join(project.ROOT, name)],
            stdout=subprocess.PIPE, check=True).stdout
        found[os.path.basename(name)[:-3]] = gettext.GNUTranslations(
            io.BytesIO(compiled)).gettext
    return found


def check_letters(name):
    for title, menu in menus(name):
        labels = [label for label, _ in entries(menu)]
        for language, say in LANGUAGES.items():
            letters = collections.defaultdict(list)
            for label in labels:
                letters[letter(say(label))].append(say(label))
            for which, words in letters.items():
                if which is None or len(words) > 1:
                    problems.append(
                        f'{name}: menu {title} ({language}): '
                        + ', '.join(words)
                        + (' has no letter' if which is None
                           else f' have the letter {which}'))


SOURCES = [name for name in project.files('.c') if name.startswith('ui/')]
TEMPLATES = [name for name in project.files('.ui') if name.startswith('ui/')]
LANGUAGES = translations()
KEYS = shortcuts()
ALL = actions()
problems = []

for name in TEMPLATES:
    check_letters(name)

in_menus = {action for name in TEMPLATES for _, menu in menus(name)
            for label, action in entries(menu)
            if action and letter(label) is not None}
with_keys = {action.split('::')[0] for action in KEYS}
for action in sorted(ALL - in_menus - with_keys - of_buttons()):
    problems.append(f'{action} has neither a shortcut nor an entry in a menu')
for action in sorted(with_keys - ALL - BUILT_IN):
    problems.append(f'{APPLICATION}: there is no action {action}')

uses = collections.Counter(key for keys in KEYS.values() for key in keys)
for key in sorted(key for key, n in uses.items() if n > 1):
    problems.append(f'{APPLICATION}: {key} means two things')

shown = project.read(OVERLAY)
for action, keys in KEYS.items():
    escaped = keys[0].replace('<', '&lt;').replace('>', '&gt;')
    if f'>{action}<' not in shown and f'>{escaped}<' not in shown:
        problems.append(f'{OVERLAY}: {action} is not listed')

project.conclude(problems, sorted(ALL) if KEYS and in_menus else [])
