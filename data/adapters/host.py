# SPDX-License-Identifier: Apache-2.0
"""What the host knows of itself and of its driver, without any library."""

import contextlib


def cpu_available():
    """Bytes that the host can still give, or None."""
    with contextlib.suppress(OSError, ValueError):
        with open('/proc/meminfo', encoding='ascii') as file:
            for line in file:
                if line.startswith('MemAvailable:'):
                    return int(line.split()[1]) * 1024
    return None


def cpu_name():
    with contextlib.suppress(OSError):
        with open('/proc/cpuinfo', encoding='utf-8') as file:
            for line in file:
                if line.startswith('model name'):
                    return line.split(':', 1)[1].strip()
    return 'CPU'


def driver_version():
    """Of NVIDIA's driver, as its own library says it; '' without."""
    import ctypes
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL('libnvidia-ml.so.1')
        text = ctypes.create_string_buffer(80)
        if (library.nvmlInit_v2() == 0
                and library.nvmlSystemGetDriverVersion(text, 80) == 0):
            return text.value.decode('ascii', 'replace')
    return ''
