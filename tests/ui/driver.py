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

import accessible
from accessible import Atspi

PATIENCE = 60.0  # seconds that anything may take on a slow machine


# What GTK 4.8 says of itself: its accessibility hands out the path of a widget
# that is going away while somebody walks the tree, it looks for the pointer over
# a popover that has just been closed, and for the monitor of one that opens
# before what it hangs on has its place.  GTK 4.18's dialog for files removes a
# row twice, and libadwaita 1.7's for messages tries its heading in less room than
# that needs.
NOT_OURS = ('g_variant_is_object_path:', 'g_variant_new_object_path:',
            'gdk_surface_get_device_position:', '_gtk_widget_find_at_coords:',
            'gdk_monitor_get_geometry:', 'gtk_tree_store_remove:',
            'Trying to measure GtkLabel')


# Before a popover of GTK 4.8 knows its size on a busy display, it lays out its
# contents in none: two complaints of one moment, of them and of what is inside, a
# box or, of a list to drop down, what scrolls it.
POPOVER = 'attempt to allocate GtkPopoverContent'
INSIDE = ('attempt to allocate GtkBox box',
          'attempt to allocate GtkScrolledWindow scrolledwindow')


def complaints(text):
    """The warnings and worse in a program's log that tell of a mistake."""
    lines = text.splitlines()
    # To the second: the two may be a millisecond apart.
    moments = {line.split('**: ')[1].split('.')[0] for line in lines
               if POPOVER in line and '**: ' in line}
    return [line for line in lines
            if any(word in line for word in ('WARNING', 'CRITICAL',
                                             'Sanitizer', 'runtime error'))
            and not any(own in line for own in NOT_OURS)
            and POPOVER not in line
            and not (any(inside in line for inside in INSIDE)
                     and any(moment in line for moment in moments))]


class NotFound(AssertionError):
    """Something that should be on the screen is not."""


def wait_for(question, what, patience=PATIENCE):
    """Asks until the answer is neither None nor False; returns it."""
    end = time.monotonic() + patience
    while True:
        begin = time.monotonic()
        bus = accessible.Node.bus
        before = bus and (bus.asked, bus.told)
        try:
            answer = question()
        except accessible.Gone:  # the widget went away while we looked
            answer = None
        if answer is not None and answer is not False:
            return answer
        if time.monotonic() > end:
            raise NotFound(what)
        # Whom we ask answers with the time that it needs for what we wait for;
        # and before it has told of something, little is another.
        moment = min(1, max(0.05, 2 * (time.monotonic() - begin)))
        if bus is None or bus.asked == before[0]:
            time.sleep(moment)
        else:
            bus.listen(1000 * moment, lambda: False)
            bus.listen(1000 - 1000 * moment, lambda: bus.told != before[1])


def press_keys(*keys):
    """Presses keys on the keyboard, by the names that xdotool knows."""
    subprocess.run(["xdotool", "key", "--clearmodifiers", *keys], check=True)


def type_text(text):
    """Types on the keyboard."""
    subprocess.run(["xdotool", "type", "--delay", "20", text], check=True)


def give_keyboard(root, title):
    """Lets the program's window with that title have the keyboard, which no
    window has after one was closed: there is no window manager."""
    command = ["xdotool", "search", "--sync", "--onlyvisible", "--name",
               f"^{title}$", "windowfocus", "--sync"]
    # One that was found may go away before it gets it.
    wait_for(lambda: subprocess.run(command, stdout=subprocess.DEVNULL)
             .returncode == 0, f"a window “{title}”")
    window = root.find(None, title)
    wait_for(lambda: window.has(Atspi.StateType.ACTIVE),
             f"“{title}” to have the keyboard")


class Node(accessible.Node):
    """One accessible thing, waited for."""

    def all(self, *arguments, **keywords):
        return self.matches(*arguments, **keywords)

    def find(self, *arguments, patience=PATIENCE, **keywords):
        """The first such descendant, waited for."""
        return wait_for(
            lambda: next(iter(self.matches(*arguments, **keywords)), None),
            f"{arguments} {keywords}", patience)

    def press_until(self, name, done, what):
        """Presses the button of that name until what it does is done: where a
        page is made anew while we look, what is found may be on its way out."""
        def press():
            if not done():
                for button in self.matches("push button", name):
                    button.press()
            return done()

        self.find("push button", name)
        wait_for(press, what)

    def find_menu_item(self, label):
        """The item with that label of a menu that is open, waited for."""
        return wait_for(
            lambda: next((item for item in self.matches("menu item")
                          if item.label == label), None),
            f"menu item “{label}”")

    def after_key(self, key):
        """The part of it that has the keyboard once that key was pressed."""
        self.bus.focused = None
        press_keys(key)
        place = self.bus.wait_for_focus()
        return self.focused() if place is None else type(self)(place)

    def tab_to(self, role, name, most=60, key="Tab"):
        """Presses Tab, or shift+Tab, until a thing inside has the keyboard:
        what cannot be reached so cannot be used without a mouse."""
        node = self.focused()
        for _ in range(most):
            try:
                seen = None if node is None else node.look()
            except accessible.Gone:
                seen = None
            if seen is not None and (seen.role, seen.name) == (role, name):
                return node
            node = self.after_key(key)
        raise NotFound(f"{key} never reaches {role} “{name}”")


def not_the_first_start(home):
    """Settings of somebody who was asked what the very first start asks."""
    folder = os.path.join(home, "config", "glib-2.0", "settings")
    path = os.path.join(folder, "keyfile")
    group = "[org/quartermaster/Quartermaster]\n"
    text = ""
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
    if "first-asked" in text:
        return
    if group not in text:
        text += group
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(group, group + "first-asked=true\n"))


class Program:
    """The program under test, with directories of its own.  Only a `first_start`
    asks what the very first one does."""

    def __init__(self, path, *arguments, home=None, environment=None,
                 first_start=False):
        self.home = home or tempfile.mkdtemp(prefix="qm-home-")
        if not first_start:
            not_the_first_start(self.home)
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
            raise NotFound(f"the program ended, {self.process.returncode}:\n"
                           + self.output())
        return accessible.find_application(self.process.pid, Node)

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
    """Gives a path to the file chooser with that title."""
    chooser = root.find("filler", title)

    def entry():
        node = chooser.focused()
        return node if node is not None and node.role == "text" else None

    for _ in range(5):
        wait_for(chooser.focused, "the keyboard in the file chooser")
        time.sleep(1)  # it fills itself, and takes the keyboard once more
        if entry() is None:
            press_keys("slash")  # a path's first letter brings its entry
        try:
            # At once: GTK 4.18 completes what is typed, some letters late.
            wait_for(entry, "the file chooser's entry", patience=3).type(path)
            wait_for(lambda: entry().text == path, path, patience=3)
            break
        except (NotFound, AttributeError):
            press_keys("ctrl+a")
    press_keys("Return")
    # GTK 4.8 may crash where a dialog that goes away is looked at.
    time.sleep(1)
