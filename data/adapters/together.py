# SPDX-License-Identifier: Apache-2.0
"""The processes of pytorch.py that train together, one for each GPU, as torchrun
starts them."""

import datetime
import importlib.util
import os
import sys

# The question, where torchrun has started this program.
QUESTION = 'QM_FRAMEWORK_QUESTION'

# Seconds that ranks wait for each other; one that compiles may be much later.
MOST_WAIT = 600


class World:
    """The processes that train together, of which this is one."""

    def __init__(self, request):
        self.size = request['gpus']
        self.rank = int(os.environ['RANK']) if self.size > 1 else 0
        self.tensor = None

    def device(self, names):
        """Of this rank, as named or '' where there is a choice."""
        if names:
            return names[self.rank]
        if self.size == 1:
            return ''
        import torch
        if torch.cuda.is_available():
            return f'cuda:{self.rank}'
        return 'cpu'

    def join(self, device, offload):
        """Makes the group of all; of one alone only where that is needed."""
        if self.size == 1:
            return
        import torch
        import torch.distributed as dist
        dist.init_process_group(
            backend_of(device, offload),
            timeout=datetime.timedelta(seconds=MOST_WAIT))
        self.tensor = torch.zeros((), dtype=torch.float64, device=device)

    def largest(self, value):
        """What the rank says that says most."""
        if self.size == 1:
            return value
        import torch.distributed as dist
        self.tensor.fill_(value)
        dist.all_reduce(self.tensor, dist.ReduceOp.MAX)
        return self.tensor.item()

    def any(self, value):
        return self.largest(float(value)) > 0


def backend_of(device, offload):
    """Gradients that were offloaded are summed up, to be clipped, where they
    are: in the memory of the host."""
    if device.type != 'cuda':
        return 'gloo'
    return 'cpu:gloo,cuda:nccl' if offload else 'nccl'


def init_distributed(device, offload):
    """A group of one process, without a network, where there is none yet."""
    import torch.distributed as dist
    if dist.is_initialized():
        return
    for name, value in dict(RANK=0, LOCAL_RANK=0, WORLD_SIZE=1).items():
        os.environ[name] = str(value)
    dist.init_process_group(backend_of(device, offload),
                            store=dist.HashStore(), rank=0, world_size=1)


def become_torchrun(program, line, gpus):
    """Has torchrun start a program for each GPU, which this process becomes; it
    returns where there is no PyTorch.  What they are asked is in their
    environment, for the standard input is one for all; that it is closed tells
    all of them to end."""
    # It is a part of PyTorch; to look for itself would load all of that.
    if importlib.util.find_spec('torch') is None:
        return
    os.environ[QUESTION] = line
    os.execv(sys.executable, [
        sys.executable, '-m', 'torch.distributed.run', '--standalone',
        '--max-restarts', '0', '--nproc-per-node', str(gpus),
        program])


class Silence:
    """Of the ranks that are not the first: only what went wrong is said."""

    def __init__(self, answers, rank):
        self.answers, self.rank = answers, rank

    def progress(self, done, note):
        pass

    def send(self, error=None, **fields):
        if error is not None:
            self.answers.send(error={**error, 'message': f'rank {self.rank}: '
                                     + error['message']})
