# SPDX-License-Identifier: Apache-2.0
"""Times a training step of a model of the catalog in PyTorch, at its best:
compiled, SDPA, TF32, fused AdamW, autocast with a loss scale where the recipe
is fp16.  Random data; the host's clock around work that is waited for.

torch-pass.py MODEL MICRO_BATCH [--wait] [--passes] [--repeat N]

Prints one line of JSON: milliseconds of forward and backward (one pass) and of
an update, the mean of 3 N after warming up, and the peak of memory.

With --passes, there is no optimizer, whose states may not fit beside a pass.

With --wait, what can be done without running the model is done first, which is
to compile it; weights are then kept in the host's memory, a line {"ready": ...}
is printed, and nothing more happens until a line comes on standard input.  So
several models can be compiled at the same time on one GPU and be timed one by
one.
"""

import argparse
import gc
import json
import statistics
import sys
import time

import torch

import common

SAMPLES = 3
WARM_UPS = 2
# Fields that a recipe's dropout stands for.
DROPOUTS = dict(gpt_neox=('hidden_dropout',), gpt2=('resid_pdrop', 'embd_pdrop'))


class Gate:
    """A backend of torch.compile: Inductor, and before the first call of what
    it made, a wait for permission."""

    def __init__(self, model, wait):
        self.model, self.wait = model, wait
        self.begin = time.monotonic()

    def __call__(self, graph, inputs):
        from torch._inductor.compile_fx import compile_fx
        compiled = compile_fx(graph, inputs)

        def call(*values):
            if self.wait:
                self.wait = False
                self.pause()
            return compiled(*values)
        return call

    def pause(self):
        for parameter in self.model.parameters():
            parameter.data = parameter.data.cpu()
        gc.collect()
        torch.cuda.empty_cache()
        print(json.dumps(dict(ready=True,
                              seconds=time.monotonic() - self.begin)),
              flush=True)
        if not sys.stdin.readline():
            raise SystemExit('nobody waits for the result')
        for parameter in self.model.parameters():
            parameter.data = parameter.data.to(DEVICE)


DEVICE = torch.device('cuda' if torch.cuda.is_available() else 'cpu')


class Step:
    def __init__(self, options):
        config, recipe = common.catalog(options.model)
        config = dict(config)
        if 'dropout' in recipe:
            for name in DROPOUTS.get(config['model_type'],
                                     ('hidden_dropout_prob',)):
                config[name] = recipe['dropout']
        for name, value in options.set:
            config[name] = recipe[name] = json.loads(value)
        if 'vocab_size' in config and config['model_type'] not in (
                'bert', 'roberta', 'mamba'):
            config['use_cache'] = False
        with DEVICE:
            self.model = common.build(config)
        self.model.train()
        self.recipe = recipe
        self.type = dict(fp16=torch.float16, bf16=torch.bfloat16,
                         fp32=None)[recipe['precision']]
        self.scaler = torch.amp.GradScaler(DEVICE.type,
                                           enabled=self.type == torch.float16)
        # The same memory traffic as Adam, whose decay is added elsewhere.
        self.optimizer = None if options.passes else torch.optim.AdamW(
            self.model.parameters(), lr=1e-4, fused=DEVICE.type == 'cuda')
        self.batch = common.make_batch(config, recipe, options.micro_batch,
                                       DEVICE)
        self.compiled = torch.compile(self.model,
                                      backend=Gate(self.model, options.wait))

    def forward_backward(self):
        with torch.autocast(DEVICE.type, dtype=self.type,
                            enabled=self.type is not None):
            loss = self.compiled(**self.batch).loss
        self.scaler.scale(loss).backward()

    def update(self):
        if self.optimizer is None:
            return
        self.scaler.unscale_(self.optimizer)
        if self.recipe['max_grad_norm'] > 0:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(),
                                           self.recipe['max_grad_norm'])
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=False)


def timed(call):
    if DEVICE.type == 'cuda':
        torch.cuda.synchronize()
    begin = time.perf_counter()
    call()
    if DEVICE.type == 'cuda':
        torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('model')
    parser.add_argument('micro_batch', type=int)
    parser.add_argument('--wait', action='store_true')
    parser.add_argument('--passes', action='store_true')
    parser.add_argument('--repeat', type=int, default=1)
    parser.add_argument('--set', nargs=2, action='append', default=[],
                        metavar=('FIELD', 'JSON'),
                        help='another value of the configuration or recipe')
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    if options.wait:
        from torch._functorch import config
        config.force_non_lazy_backward_lowering = True
    step = Step(options)
    for _ in range(WARM_UPS):
        step.forward_backward()
        step.update()
    passes, updates = [], []
    for _ in range(SAMPLES * options.repeat):
        passes.append(timed(step.forward_backward))
        updates.append(timed(step.update))
    print(json.dumps(dict(
        model=options.model, micro_batch=options.micro_batch,
        pass_ms=statistics.mean(passes), pass_min_ms=min(passes),
        pass_max_ms=max(passes), update_ms=statistics.mean(updates),
        peak_bytes=torch.cuda.max_memory_allocated()
        if DEVICE.type == 'cuda' else 0, version=torch.__version__)),
        flush=True)


main()
