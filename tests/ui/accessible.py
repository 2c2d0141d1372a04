# SPDX-License-Identifier: Apache-2.0
"""What assistive technologies see of a program: its tree of accessible things,
asked of over D-Bus as AT-SPI defines it.

A tree has a thousand nodes, and a busy machine takes a while for each question
that waits for the answer to the one before: what a program tells of all its
nodes at once is taken, and questions about others go out together.
"""

import itertools
import typing
import warnings

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib  # noqa: E402

# The interfaces that replace the deprecated ones came after Debian 12's.
warnings.simplefilter("ignore", DeprecationWarning)

ACCESSIBLE = "org.a11y.atspi.Accessible"
ACTION = "org.a11y.atspi.Action"
CACHE = "org.a11y.atspi.Cache"
EDITABLE = "org.a11y.atspi.EditableText"
EVENT = "org.a11y.atspi.Event.Object"
PROPERTIES = "org.freedesktop.DBus.Properties"
TEXT = "org.a11y.atspi.Text"
VALUE = "org.a11y.atspi.Value"

PATIENCE_MS = 15000  # for one answer
MOMENT_MS = 300      # in which the keyboard goes elsewhere
DEEPEST = 200        # no window is; a tree that is has a ring
MANY = 20            # of which to ask for all at once is less work


class Gone(Exception):
    """What was asked is no more, or cannot answer that."""


# What later GTKs and at-spi2-cores tell apart, as Debian 12's say it.
OLDER_ROLES = {"button": "push button", "toggle button": "push button",
               "grouping": "panel", "switch": "check box",
               "dialog": "filler"}


def role_name(role):
    name = Atspi.role_get_name(Atspi.Role(role))
    return OLDER_ROLES.get(name, name)


class Bus:
    """The bus of accessibility."""

    def __init__(self):
        session = Gio.bus_get_sync(Gio.BusType.SESSION)
        address, = session.call_sync(
            "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress",
            None, None, Gio.DBusCallFlags.NONE, PATIENCE_MS, None).unpack()
        self.connection = Gio.DBusConnection.new_for_address_sync(
            address,
            Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
            | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
        self.whole = None  # the last answer of a cache, as it was written,
        self.items = {}    # and what was read from each of its items
        self.changed = set()  # places that got or lost children
        self.focused = None   # the place that told last that it has the keyboard
        self.asked = 0        # questions so far,
        self.told = 0         # and what was told without any

    def ask(self, questions):
        """The answers to (place, interface, method, arguments), as they came;
        None for those that nobody answers."""
        answers = [None] * len(questions)
        waiting = len(questions)
        self.asked += waiting

        def answered(connection, result, index):
            nonlocal waiting
            waiting -= 1
            try:
                answers[index] = connection.call_finish(result)
            except GLib.Error:
                pass

        for index, (place, interface, method, arguments) in enumerate(
                questions):
            self.connection.call(
                *place, interface, method, arguments, None,
                Gio.DBusCallFlags.NONE, PATIENCE_MS, None, answered, index)
        while waiting > 0:
            GLib.MainContext.default().iteration(True)
        return answers

    def watch(self, program):
        """Notes what that program tells: what changes in its tree, for where one
        of two things is shown in turn, the hidden one says that it has the
        other's place; who gets the keyboard; and that there was something."""
        def told(connection, sender, path, interface, signal, values):
            self.told += 1
            if signal == "ChildrenChanged":
                self.changed.add((sender, path))
            elif signal == "StateChanged" and (
                    values.get_child_value(0).get_string() == "focused"
                    and values.get_child_value(1).get_int32() == 1):
                self.focused = sender, path

        self.connection.signal_subscribe(
            program, EVENT, None, None, None, Gio.DBusSignalFlags.NONE, told)

    def listen(self, milliseconds, done):
        """Hears what is told until done() holds, or for so long."""
        context = GLib.MainContext.default()
        end = GLib.get_monotonic_time() + milliseconds * 1000
        timer = GLib.timeout_source_new(max(1, int(milliseconds)))
        timer.set_callback(lambda *_: GLib.SOURCE_CONTINUE)
        timer.attach(context)
        while not done() and GLib.get_monotonic_time() < end:
            context.iteration(True)
        timer.destroy()

    def wait_for_focus(self):
        """The place that tells within a moment that it got the keyboard, or
        None."""
        self.listen(MOMENT_MS, lambda: self.focused is not None)
        return self.focused

    def read_items(self, answer):
        """What an answer of a cache tells of each place.  From one question to
        the next most of it stays, which is not read again."""
        items = answer.get_child_value(0)
        whole = items.get_data_as_bytes().get_data()
        if whole != self.whole:
            before = self.items
            self.items = {}
            for item in each(items):
                written = item.get_data_as_bytes().get_data()
                self.items[written] = before.get(written) or read_item(item)
            self.whole = whole
        return dict(self.items.values())


class Seen(typing.NamedTuple):
    """What a node said of itself."""

    role: str
    name: str
    states: tuple

    def has(self, state):
        return bool(self.states[state // 32] >> state % 32 & 1)


class Item(typing.NamedTuple):
    """What a program tells of a node unasked."""

    parent: tuple  # its place, and which of its children this one is
    index: int
    count: int     # of its own children
    seen: Seen


def read_item(item):
    """An item of a cache: where it is, and what it tells."""
    return place_of(item.get_child_value(0)), Item(
        place_of(item.get_child_value(2)),
        item.get_child_value(3).get_int32(),
        item.get_child_value(4).get_int32(),
        Seen(role_name(item.get_child_value(7).get_uint32()),
             item.get_child_value(6).get_string(),
             tuple(item.get_child_value(9).unpack())))


class Node:
    """One accessible thing and what can be done to it."""

    bus = None

    def __init__(self, place):
        self.place = place  # the program's name on the bus, and a path there

    def question(self, method, interface=ACCESSIBLE, arguments=None):
        return self.place, interface, method, arguments

    def question_property(self, name, interface=ACCESSIBLE):
        return self.question("Get", PROPERTIES,
                             GLib.Variant("(ss)", (interface, name)))

    def ask(self, *words):
        answer, = self.bus.ask([self.question(*words)])
        if answer is None:
            raise Gone(f"{self.place}: {words}")
        return answer.unpack()

    def ask_property(self, *words):
        answer, = self.bus.ask([self.question_property(*words)])
        if answer is None:
            raise Gone(f"{self.place}: {words}")
        return answer.unpack()[0]

    @property
    def name(self):
        return self.ask_property("Name")

    @property
    def label(self):
        """Its name, or the text of what it is labelled by: GTK 4.18 gives an
        item of a menu no name."""
        return self.name or " ".join(
            type(self)(place).text
            for relation, places in self.ask("GetRelationSet")[0]
            if relation == Atspi.RelationType.LABELLED_BY
            for place in places)

    @property
    def role(self):
        return role_name(self.ask("GetRole")[0])

    @property
    def description(self):
        return self.ask_property("Description")

    @property
    def text(self):
        try:
            length = self.ask_property("CharacterCount", TEXT)
        except Gone:
            return self.name
        return self.ask("GetText", TEXT, GLib.Variant("(ii)", (0, length)))[0]

    @property
    def value(self):
        return self.ask_property("CurrentValue", VALUE)

    @value.setter
    def value(self, value):
        self.ask("Set", PROPERTIES, GLib.Variant(
            "(ssv)", (VALUE, "CurrentValue", GLib.Variant("d", value))))

    def has(self, state):
        return self.look().has(state)

    @property
    def visible(self):
        # GTK 4.8 tells SHOWING of windows only.
        return self.has(Atspi.StateType.VISIBLE)

    @property
    def checked(self):
        return self.has(Atspi.StateType.CHECKED) or self.has(
            Atspi.StateType.PRESSED)

    @property
    def actions(self):
        """How many things can be done to it."""
        try:
            return self.ask_property("NActions", ACTION)
        except Gone:
            return 0

    def press(self):
        """The default action: clicks, toggles, activates."""
        if self.actions == 0:
            # From GTK 4.10 on a menu's button is the one within it.
            inner = [node for node in self.walk() if node.actions > 0]
            assert inner, f"{self.role} “{self.name}” has no action"
            inner[0].press()
            return
        self.ask("DoAction", ACTION, GLib.Variant("(i)", (0,)))

    def type(self, text):
        """Replaces the text of an entry."""
        try:
            self.ask("SetTextContents", EDITABLE, GLib.Variant("(s)", (text,)))
        except Gone as error:
            raise AssertionError(f"“{self.name}” cannot be edited") from error

    @classmethod
    def look_at(cls, nodes):
        """What these say of themselves; None for those that say nothing."""
        nodes = list(nodes)
        n = len(nodes)
        answers = cls.bus.ask(
            [node.question(method) for method in ("GetRole", "GetState")
             for node in nodes]
            + [node.question_property("Name") for node in nodes])
        return [None if None in (role, states, name)
                else Seen(role_name(role.unpack()[0]), name.unpack()[0],
                          tuple(states.unpack()[0]))
                for role, states, name in zip(answers[:n], answers[n:2 * n],
                                              answers[2 * n:])]

    def look(self):
        seen, = self.look_at([self])
        if seen is None:
            raise Gone(self.place)
        return seen

    def told(self):
        """What the program tells of its nodes unasked, by place.  New ones may
        be missing, and those that are gone may still be there."""
        answer, = self.bus.ask([((self.place[0], "/org/a11y/atspi/cache"),
                                 CACHE, "GetItems", None)])
        return {} if answer is None else self.bus.read_items(answer)

    def tree(self):
        """It and all below it, each before what is in it, as triples: the node,
        how deep it is, and what it says of itself or None."""
        told = self.told()
        known = children_told(told)
        for place in self.bus.changed:
            known.pop(place, None)
        inner, strangers = self.inner(told, known)
        # GTK knows of most widgets once it was asked what they are in.
        if len(strangers) > MANY:
            told = {**told, **self.told()}
            strangers = [place for place in strangers if place not in told]
        kind = type(self)
        seen = dict(zip(strangers, self.look_at(map(kind, strangers))))
        rows = {place: (depth, seen[place] if place in seen
                        else told[place].seen, children)
                for place, (depth, children) in inner.items()}
        return flatten(rows, self.place, type(self))

    def inner(self, told, known):
        """How deep each place below is, and what is in it; and the places of which
        the program told nothing."""
        found = {}
        strangers = []
        level = [self.place]
        for depth in range(DEEPEST):
            if not level:
                break
            # GTK 4.8 does not count the windows of its program.
            parents = [place for place in level if place not in known
                       and (depth == 0 or place not in told
                            or told[place].count > 0)]
            strangers += [place for place in level if place not in told]
            self.bus.changed.difference_update(parents)
            asked = dict(zip(parents, self.bus.ask(
                [type(self)(place).question("GetChildren")
                 for place in parents])))
            below = []
            for place in level:
                children = known.get(place, ())
                if asked.get(place) is not None:
                    children = [child for child in map(
                        place_of, each(asked[place].get_child_value(0)))
                        if child[0]]
                found[place] = depth, children
                below += children
            level = below
        return found, strangers

    def walk(self):
        return (node for node, _, _ in self.tree())

    def seen(self, role=None, name=None, contains=None, visible=True,
             inside=None, holding=None):
        """Descendants with that role, name or part of a name, and what each says
        of itself; with `inside`, those within the first one of that role and
        name, and with `holding`, those with a label of that name in them."""
        rows = [row for row in self.tree() if row[2] is not None]
        if inside is not None:
            rows = within(rows, *inside)
        return [(node, seen) for i, (node, _, seen) in enumerate(rows)
                if (role is None or role == seen.role)
                and (name is None or name == seen.name)
                and (contains is None or contains in seen.name)
                and (not visible or seen.has(Atspi.StateType.VISIBLE))
                and (holding is None or any(
                    (part.role, part.name) == ("label", holding)
                    for _, _, part in below(rows, i)))]

    def matches(self, *words, **choice):
        """The nodes of seen()."""
        return [node for node, _ in self.seen(*words, **choice)]

    def names(self, *words, **choice):
        """The names of seen()."""
        return [seen.name for _, seen in self.seen(*words, **choice)]

    def focused(self):
        """The part of it that has the keyboard."""
        for node, _, seen in self.tree():
            if seen is not None and seen.has(Atspi.StateType.FOCUSED):
                return node
        return None

    def dump(self):
        """The tree in words, for a failed test's log."""
        return [f"{'  ' * depth}{seen.role} “{seen.name}”"
                f"{'' if seen.has(Atspi.StateType.VISIBLE) else ' (hidden)'}"
                for _, depth, seen in self.tree() if seen is not None]


def each(array):
    return map(array.get_child_value, range(array.n_children()))


def place_of(pair):
    return (pair.get_child_value(0).get_string(),
            pair.get_child_value(1).get_string())


def below(rows, i):
    """Of the rows of a tree those below one of them."""
    return list(itertools.takewhile(lambda row: row[1] > rows[i][1],
                                    rows[i + 1:]))


def within(rows, role, name):
    """Those below the first of that role and name."""
    return next((below(rows, i) for i, (_, _, seen) in enumerate(rows)
                 if (seen.role, seen.name) == (role, name)), [])


def children_told(told):
    """The places within each place, as far as what was told of them shows that
    nobody is missing: what is in it counts from the first to the last."""
    below = {}
    for place, item in told.items():
        below.setdefault(item.parent, []).append((item.index, place))
    known = {}
    doubtful = []
    for place, item in told.items():
        inner = sorted(below.get(place, ()))
        if [index for index, _ in inner] == list(range(item.count)):
            known[place] = [child for _, child in inner]
        else:
            doubtful.append(place)
    # GTK tells the pages of a stack as its children, but answers with what is
    # on them, which it does not count within its page.
    for place in doubtful:
        known.pop(told[place].parent, None)
    return known


def flatten(rows, place, kind):
    # GTK 4.18 now and then counts a child twice.
    depth, seen, children = rows.pop(place)
    yield kind(place), depth, seen
    for child in children:
        if child in rows:
            yield from flatten(rows, child, kind)


def find_application(pid, kind):
    """The program's node, of that class, once it has a window; else None."""
    if Node.bus is None:
        Node.bus = Bus()
    registry = Node(("org.a11y.atspi.Registry",
                     "/org/a11y/atspi/accessible/root"))
    for place in registry.ask("GetChildren")[0]:
        owner, = Node.bus.ask([(
            ("org.freedesktop.DBus", "/org/freedesktop/DBus"),
            "org.freedesktop.DBus", "GetConnectionUnixProcessID",
            GLib.Variant("(s)", (place[0],)))])
        application = kind(place)
        if (owner is not None and owner.unpack() == (pid,)
                and application.ask("GetChildren")[0]):
            Node.bus.watch(place[0])
            return application
    return None
