# SPDX-License-Identifier: Apache-2.0
"""The user guide: every language has the same pages, every link, place on a page
and picture exists and is used, what is said of a menu or a button is in the
program, in that language, and what the program explains is in the glossary."""

import html.parser
import os
import re

import project

GUIDE = 'data/guide/'
STRING = r'"((?:[^"\\]|\\.)*)"'


class Page(html.parser.HTMLParser):
    """What a page has and refers to."""

    VOID = {'meta', 'link', 'img', 'br', 'hr'}

    def __init__(self, text):
        super().__init__()
        self.links, self.pictures, self.places = [], [], set()
        self.labels, self.problems = [], []
        self.open = []
        self.language = self.title = None
        self.feed(text)
        if self.open:
            self.problems.append(f'<{self.open[-1]}> is never closed')

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag not in self.VOID:
            self.open.append(tag)
        if 'id' in found:
            self.places.add(found['id'])
        if tag == 'html':
            self.language = found.get('lang')
        elif tag in ('a', 'link'):
            self.links.append(found.get('href', ''))
        elif tag == 'img':
            self.pictures.append(found.get('src', ''))
            if not found.get('alt'):
                self.problems.append(f'{found.get("src")} has no words')
        elif tag == 'b' and found.get('class') == 'ui':
            self.labels.append('')

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f'</{tag}> closes what is not open')

    def handle_data(self, data):
        if self.open and self.open[-1] == 'title':
            self.title = data
        if self.labels and 'b' in self.open:
            self.labels[-1] += data


def plain(text):
    return ' '.join(text.replace('_', '').split())


def unquote(parts):
    text = ''.join(re.findall(STRING, parts))
    return text.replace('\\"', '"').replace('\\n', '\n')


def program_texts():
    """What the program says in English."""
    texts = set()
    for name in project.files():
        if name.startswith('ui/') and name.endswith('.ui'):
            found = re.findall(r'translatable="yes"[^>]*>([^<]+)<',
                               project.read(name))
            texts.update(plain(text.replace('&amp;', '&')) for text in found)
        elif name.startswith('ui/') and name.endswith('.c'):
            found = re.findall(rf'_ \(((?:\s*{STRING})+)\)',
                               project.read(name))
            texts.update(plain(unquote(parts)) for parts, _ in found)
    return texts


def translated_texts(language):
    """The same in another language, and what it does not have yet."""
    text = project.read(f'po/{language}.po')
    found = re.findall(rf'^msgstr ((?:{STRING}\n)+)', text, re.MULTILINE)
    return {plain(unquote(parts)) for parts, _ in found}


def check(language, names, texts):
    """Problems of the pages of a language, and what they refer to."""
    pages = {name: Page(project.read(f'{GUIDE}{language}/{name}'))
             for name in names}
    used = set()
    for name, page in pages.items():
        where = f'{GUIDE}{language}/{name}'
        for problem in page.problems:
            yield f'{where}: {problem}'
        if page.language != language or not page.title:
            yield f'{where}: has no title, or another language'
        for label in map(plain, page.labels):
            if label not in texts:
                yield f'{where}: nothing is called “{label}”'
        for link in page.links + page.pictures:
            file, _, place = link.partition('#')
            path = os.path.normpath(f'{GUIDE}{language}/{file}')
            used.add(path)
            if not file or path not in FILES:
                yield f'{where}: there is no {link}'
            elif place and place not in pages[file].places:
                yield f'{where}: {file} has no {place}'
    for path in FILES:
        if path.startswith(f'{GUIDE}{language}/') and path not in used:
            yield f'{path}: nothing leads there'


def check_terms(language):
    """Every term that the window explains is in the glossary, too."""
    found = re.findall(r'^  \{ "(\w+)", N_ \(', project.read('pricing/qm-terms.c'),
                       re.MULTILINE)
    assert len(found) > 9
    name = f'{GUIDE}{language}/glossary.html'
    places = Page(project.read(name)).places
    for term in found:
        if term not in places:
            yield f'{name}: has no {term}'


def check_buttons():
    """Buttons explain terms that there are."""
    terms = project.read('pricing/qm-terms.c')
    for name in project.files():
        if not name.startswith('ui/') or not name.endswith(('.ui', '.c')):
            continue
        text = project.read(name)
        for ids in re.findall(r'name="terms">([^<]*)<|"terms",\s*"([^"]*)"',
                              text):
            for term in ''.join(ids).split():
                if f'{{ "{term}", N_' not in terms:
                    yield f'{name}: there is no term {term}'


FILES = set(name for name in project.files() if name.startswith(GUIDE))
LANGUAGES = sorted({name.removeprefix(GUIDE).split('/')[0] for name in FILES
                    if name.endswith('.html')})
assert {'de', 'en'} <= set(LANGUAGES)
PAGES = {language: sorted(os.path.basename(name) for name in FILES
                          if name.startswith(f'{GUIDE}{language}/')
                          and name.endswith('.html'))
         for language in LANGUAGES}
problems = []
for each in LANGUAGES:
    if PAGES[each] != PAGES['en']:
        problems.append(f'{GUIDE}{each}: other pages than in English')
    problems += check(each, PAGES[each],
                      program_texts() if each == 'en'
                      else translated_texts(each))
    problems += check_terms(each)
problems += check_buttons()
project.conclude(problems, [page for pages in PAGES.values()
                            for page in pages])
