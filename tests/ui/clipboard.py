#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Another program from which something was copied.

clipboard.py TYPE TEXT: offers the text under a media type until its standard
input ends; says "ready" when it can be pasted.
"""

import sys

import gi

gi.require_version("Gdk", "4.0")
gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402

Gtk.init()
media_type, text = sys.argv[1:]
content = Gdk.ContentProvider.new_for_bytes(
    media_type, GLib.Bytes.new(text.encode("utf-8")))
Gdk.Display.get_default().get_clipboard().set_content(content)
loop = GLib.MainLoop()
GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT,
                  GLib.IOCondition.IN | GLib.IOCondition.HUP,
                  lambda *_: loop.quit())
print("ready", flush=True)
loop.run()
