# SPDX-License-Identifier: Apache-2.0
"""What tests of qm-bench share: a recipe for tiny models, and processes."""

import pathlib

RECIPE = dict(batch_size=8, steps=100, sequence_length=16, precision='fp32',
              optimizer='adamw', learning_rate=3e-3, beta1=0.9, beta2=0.95,
              epsilon=1e-8, weight_decay=0.01, max_grad_norm=1.0)


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
