#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# with-display.sh PROGRAM [ARGUMENT...]
#
# Runs a program on a virtual display and a session bus of its own, with empty
# folders for its settings and files: what a test sees does not depend on who
# runs it, and what it does leaves no trace.

set -eu

for tool in xvfb-run dbus-run-session; do
  if ! command -v "$tool" >/dev/null; then
    echo "$tool is missing" >&2
    exit 77 # meson: skipped
  fi
done

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -m 700 "$home/run"
mkdir "$home/no-drivers"

export HOME="$home"
export XDG_CACHE_HOME="$home/cache" XDG_CONFIG_HOME="$home/config"
export XDG_DATA_HOME="$home/data" XDG_STATE_HOME="$home/state"
export XDG_RUNTIME_DIR="$home/run"
# Everything is drawn by Cairo.  GDK would load the system's OpenGL drivers all
# the same, and unload them; what Mesa's leave behind LeakSanitizer cannot tell
# from what we lost, since the module is gone.  So there are none.
export __EGL_VENDOR_LIBRARY_DIRS="$home/no-drivers"
export GDK_BACKEND=x11 GSETTINGS_BACKEND="${GSETTINGS_BACKEND:-memory}"
unset WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS AT_SPI_BUS_ADDRESS
unset __EGL_VENDOR_LIBRARY_FILENAMES
unset GTK_THEME GTK_DEBUG GDK_DEBUG GDK_SCALE NO_AT_BRIDGE

# Of the services of a desktop (portals, volumes, settings) none starts but that
# of assistive technology: those that are installed would complain of what else
# a desktop has, and of a folder that they mount in the one of the test.
export GIO_USE_VFS=local GIO_USE_VOLUME_MONITOR=unix
mkdir "$home/services"
cp /usr/share/dbus-1/services/org.a11y.Bus.service "$home/services"
cat >"$home/bus.conf" <<END
<busconfig>
  <type>session</type>
  <listen>unix:dir=$home/run</listen>
  <auth>EXTERNAL</auth>
  <servicedir>$home/services</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
END

dbus-run-session --config-file="$home/bus.conf" -- \
  xvfb-run -a -s '-screen 0 1280x1024x24 -noreset -extension GLX' "$@"
