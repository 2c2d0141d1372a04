# SPDX-License-Identifier: Apache-2.0
"""What tests of qm-bench share: tiny models, files of tensors, processes."""

import json
import os
import pathlib
import signal
import struct
import subprocess
import time

RECIPE = dict(batch_size=8, steps=100, sequence_length=16, precision='fp32',
              optimizer='adamw', learning_rate=3e-3, beta1=0.9, beta2=0.95,
              epsilon=1e-8, weight_decay=0.01, max_grad_norm=1.0)

# Those of the catalog.
MODELS = ('pythia-160m', 'pythia-410m', 'pythia-1b', 'pythia-2.8b',
          'pythia-6.9b', 'roberta-large', 'vit-large', 'convnext-xlarge',
          'mamba-2.8b')

# A model that takes no time.
TINY = dict(model_type='gpt_neox', vocab_size=256, hidden_size=32,
            num_hidden_layers=1, num_attention_heads=4, intermediate_size=64,
            hidden_act='gelu', max_position_embeddings=32)


def write_tensors(path, **tensors):
    """A safetensors file of (type, shape, bytes)."""
    header, end = {}, 0
    for name, (kind, shape, data) in tensors.items():
        header[name] = dict(dtype=kind, shape=shape,
                            data_offsets=[end, end + len(data)])
        end += len(data)
    text = json.dumps(header).encode()
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text)
        for _, _, data in tensors.values():
            file.write(data)


def read_tensors(path):
    """The same the other way around."""
    data = pathlib.Path(path).read_bytes()
    begin = 8 + struct.unpack('<Q', data[:8])[0]
    header = json.loads(data[8:begin])
    header.pop('__metadata__', None)
    return {name: (entry['dtype'], entry['shape'], data[slice(
        *(begin + offset for offset in entry['data_offsets']))])
        for name, entry in header.items()}


def read_stat(pid):
    """State and parent of a process; None where there is none."""
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return None
    state, parent = stat.rsplit(')', 1)[1].split()[:2]
    return state, int(parent)


def children(pid):
    """Processes that it has started and that have not ended."""
    stats = {entry.name: read_stat(entry.name)
             for entry in pathlib.Path('/proc').iterdir()
             if entry.name.isdigit()}
    return [int(name) for name, stat in stats.items()
            if stat is not None and stat[1] == pid and stat[0] != 'Z']


def is_alive(pid):
    stat = read_stat(pid)
    return stat is not None and stat[0] != 'Z'


def left_of(pids, until):
    """Those that still live at a time of the monotonic clock.

    A process that ends closes its files before it is gone.
    """
    while (left := [pid for pid in pids if is_alive(pid)]
           ) and time.monotonic() < until:
        time.sleep(0.05)
    return left


# Seconds in which a process that has something to do gets to do it, on a
# machine however busy, and those that all of a command takes of processors.
RESTS, TAKES = 90, 600


def seconds_used(pid):
    """Of processors, by a process, its children and those that have ended."""
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return 0
    ticks = sum(map(int, stat.rsplit(')', 1)[1].split()[11:15]))
    return (ticks / os.sysconf('SC_CLK_TCK')
            + sum(seconds_used(child) for child in children(pid)))


def end_all(pid):
    """A process, and those that it has started."""
    for child in children(pid):
        end_all(child)
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_to_end(command, rests=RESTS, takes=TAKES, **options):
    """As subprocess.run() of a command whose words are captured. What ends it
    is no clock, which says how busy the machine is: it has to rest, or to
    compute without an end."""
    with subprocess.Popen(command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True,
                          **options) as process:
        begin = since = time.monotonic()
        used = 0
        while True:
            try:
                out, err = process.communicate(timeout=1)
                return subprocess.CompletedProcess(
                    command, process.returncode, out, err)
            except subprocess.TimeoutExpired as expired:
                now = seconds_used(process.pid)
                if now > used:
                    used, since = now, time.monotonic()
                if used > takes or time.monotonic() > since + rests:
                    end_all(process.pid)
                    expired.timeout = time.monotonic() - begin
                    raise
            except BaseException:
                end_all(process.pid)
                raise
