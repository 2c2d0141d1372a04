# SPDX-License-Identifier: Apache-2.0
"""Drives a program through its accessibility tree, as a screen reader would.

Needs a display and a session bus of its own: tests/with-display.sh.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

# The interfaces that replace the deprecated ones came after Debian 12's.
warnings.simplefilter("ignore", DeprecationWarning)

PATIENCE = 20.0  # seconds that anything may take on a slow machine


# What GTK 4.8 says of itself: its accessibility hands out the path of a widget
# that is going away while somebody walks the tree, and it looks for the pointer
# over a popover that has just been closed.
NOT_OURS = ('g_variant_is_object_path:', 'g_variant_new_object_path:',
            'gdk_surface_get_device_position:', '_gtk_widget_find_at_coords:')


def complaints(text):
    """The warnings and worse in a program's log that tell of a mistake."""
    return [line for line in text.splitlines()
            if any(word in line for word in ('WARNING', 'CRITICAL',
                                             'Sanitizer', 'runtime error'))
            and not any(own in line for own in NOT_OURS)]


class NotFound(AssertionError):
    """Something that should be on the screen is not."""


def wait_for(question, what, patience=PATIENCE):
    """Asks until the answer is neither None nor False; returns it."""
    end = time.monotonic() + patience
    while True:
        try:
            answer = question()
        except GLib.Error:  # the widget went away while we looked
            answer = None
        if answer is not None and answer is not False:
            return answer
        if time.monotonic() > end:
            raise NotFound(what)
        time.sleep(0.05)


def press_keys(*keys):
    """Presses keys on the keyboard, by the names that xdotool knows."""
    subprocess.run(["xdotool", "key", "--clearmodifiers", *keys], check=True)


def type_text(text):
    """Types on the keyboard."""
    subprocess.run(["xdotool", "type", "--delay", "20", text], check=True)


class Node:
    """One accessible thing and what can be done to it."""

    def __init__(self, accessible):
        self.accessible = accessible

    @property
    def name(self):
        return self.accessible.get_name() or ""

    @property
    def role(self):
        return self.accessible.get_role_name()

    @property
    def description(self):
        return self.accessible.get_description() or ""

    @property
    def text(self):
        interface = self.accessible.get_text_iface()
        if interface is None:
            return self.name
        length = Atspi.Text.get_character_count(interface)
        return Atspi.Text.get_text(interface, 0, length)

    @property
    def value(self):
        return self.accessible.get_value_iface().get_current_value()

    @value.setter
    def value(self, value):
        self.accessible.get_value_iface().set_current_value(value)

    def has(self, state):
        return self.accessible.get_state_set().contains(state)

    @property
    def visible(self):
        # GTK 4.8 tells SHOWING of windows only.
        return self.has(Atspi.StateType.VISIBLE)

    @property
    def checked(self):
        return self.has(Atspi.StateType.CHECKED) or self.has(
            Atspi.StateType.PRESSED)

    def children(self):
        for index in range(self.accessible.get_child_count()):
            child = self.accessible.get_child_at_index(index)
            if child is not None:
                yield Node(child)

    def walk(self):
        yield self
        for child in self.children():
            yield from child.walk()

    def matches(self, role=None, name=None, contains=None, visible=True):
        """Descendants with that role, name or part of a name, one by one."""
        for node in self.walk():
            try:
                if ((role is None or node.role == role)
                        and (name is None or node.name == name)
                        and (contains is None or contains in node.name)
                        and (not visible or node.visible)):
                    yield node
            except GLib.Error:  # it went away while we looked
                continue

    def all(self, *arguments, **keywords):
        return list(self.matches(*arguments, **keywords))

    def find(self, *arguments, patience=PATIENCE, **keywords):
        """The first such descendant, waited for."""
        return wait_for(
            lambda: next(self.matches(*arguments, **keywords), None),
            f"{arguments} {keywords}", patience)

    def press(self):
        """The default action: clicks, toggles, activates."""
        interface = self.accessible.get_action_iface()
        assert interface is not None and interface.get_n_actions() > 0, (
            f"{self.role} “{self.name}” has no action")
        interface.do_action(0)

    def focused(self):
        """The part of it that has the keyboard."""
        for node in self.walk():
            if node.has(Atspi.StateType.FOCUSED):
                return node
        return None

    def tab_to(self, role, name, most=60):
        """Presses Tab until a thing inside has the keyboard: what cannot be
        reached so cannot be used without a mouse."""
        for _ in range(most):
            node = self.focused()
            if (node is not None and node.role == role
                    and node.name == name):
                return node
            press_keys("Tab")
            time.sleep(0.05)
        raise NotFound(f"Tab never reaches {role} “{name}”")

    def type(self, text):
        """Replaces the text of an entry."""
        interface = self.accessible.get_editable_text_iface()
        assert interface is not None, f"“{self.name}” cannot be edited"
        interface.set_text_contents(text)

    def dump(self, depth=0):
        """The tree in words, for a failed test's log."""
        lines = []
        try:
            lines.append(f"{'  ' * depth}{self.role} “{self.name}”"
                         f"{'' if self.visible else ' (hidden)'}")
            for child in self.children():
                lines += child.dump(depth + 1)
        except GLib.Error as error:
            lines.append(f"{'  ' * depth}({error.message})")
        return lines


class Program:
    """The program under test, with directories of its own."""

    def __init__(self, path, *arguments, home=None, environment=None):
        self.home = home or tempfile.mkdtemp(prefix="qm-home-")
        self.own_home = home is None
        env = dict(os.environ)
        env.update({
            "HOME": self.home,
            "XDG_CONFIG_HOME": os.path.join(self.home, "config"),
            "XDG_DATA_HOME": os.path.join(self.home, "data"),
            "XDG_CACHE_HOME": os.path.join(self.home, "cache"),
            "XDG_STATE_HOME": os.path.join(self.home, "state"),
            "GSETTINGS_BACKEND": "keyfile",
            "GTK_USE_PORTAL": "0",
            "GSK_RENDERER": "cairo",
            "LC_ALL": "C.UTF-8",
        })
        env.pop("GTK_A11Y", None)
        env.update(environment or {})
        self.log = open(os.path.join(self.home, "log"), "w+b")
        self.process = subprocess.Popen([path, *arguments], env=env,
                                        stdout=self.log,
                                        stderr=subprocess.STDOUT)
        self.root = wait_for(self._find_application, "the program's window")

    def _find_application(self):
        if self.process.poll() is not None:
            raise NotFound("the program ended:\n" + self.output())
        desktop = Atspi.get_desktop(0)
        for index in range(desktop.get_child_count()):
            application = desktop.get_child_at_index(index)
            if (application is not None
                    and application.get_process_id() == self.process.pid
                    and application.get_child_count() > 0):
                return Node(application)
        return None

    def output(self):
        self.log.flush()
        with open(self.log.name, encoding="utf-8", errors="replace") as log:
            return log.read()

    def wait(self):
        return self.process.wait(PATIENCE)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
        if self.own_home:
            shutil.rmtree(self.home, ignore_errors=True)


def choose_file(root, title, path):
    """Types a path into the file chooser with that title."""
    chooser = root.find("filler", title)
    wait_for(chooser.focused, "the keyboard in the file chooser")
    time.sleep(1)  # it fills itself
    type_text(path)
    press_keys("Return")
    # GTK 4.8 may crash where a dialog that goes away is looked at.
    time.sleep(1)
