# SPDX-License-Identifier: Apache-2.0
"""Measures the training step of a model in PyTorch and Transformers, for
`qm-bench framework`, which starts this program and says what to measure.

One JSON object on one line of the standard input is the question; the standard
input has to stay open, for this program ends with it.  JSON objects on lines of
the standard output are the answer:

  {"progress": 0.3, "note": "..."}     as often as there is something to tell
  {"result": {...}} or {"error": {"kind": "...", "message": "..."}}    the last

Everything that libraries print goes to the standard error.  A pass is forward
and backward of one micro-batch, an update all that comes after the last pass of
a step; both are timed between events of the device that are waited for.

On several GPUs the program becomes torchrun, which starts it once for each; they
have the question in their environment, and the first of them answers.  The
slowest counts, and what the last pass of a step takes longer than others, as
gradients are summed in it, is a part of the update.

Python 3.9, PyTorch 2.1, Transformers 4.40, or newer.
"""

import contextlib
import gc
import importlib.util
import json
import math
import os
import re
import sys
import threading
import time
import warnings

# Beside an installed program nothing is written.
sys.dont_write_bytecode = True

import host  # noqa: E402
import together  # noqa: E402

SAMPLES = 3
WARM_UPS = 2
# A loss scale that is too large is halved, and the update left out; more often
# than this it is something else.
MOST_OVERFLOWS = 40

CLASSES = {
    'gpt_neox': 'GPTNeoXForCausalLM',
    'bert': 'BertForMaskedLM',
    'roberta': 'RobertaForMaskedLM',
    'vit': 'ViTForImageClassification',
    'convnext': 'ConvNextForImageClassification',
    'mamba': 'MambaForCausalLM',
    'llama': 'LlamaForCausalLM',
    'mistral': 'MistralForCausalLM',
    'qwen2': 'Qwen2ForCausalLM',
    'qwen3': 'Qwen3ForCausalLM',
    'olmo2': 'Olmo2ForCausalLM',
    'olmo3': 'Olmo3ForCausalLM',
    'smollm3': 'SmolLM3ForCausalLM',
    'gemma3_text': 'Gemma3ForCausalLM',
    'gpt2': 'GPT2LMHeadModel',
    'modernbert': 'ModernBertForMaskedLM',
    'esm': 'EsmForMaskedLM',
    'olmoe': 'OlmoeForCausalLM',
    'qwen3_moe': 'Qwen3MoeForCausalLM',
    'mixtral': 'MixtralForCausalLM',
    'dinov2': 'Dinov2ForImageClassification',
    'dinov2_with_registers': 'Dinov2WithRegistersForImageClassification',
    'dinov3_vit': 'DINOv3ViTModel',
    'vit_mae': 'ViTMAEForPreTraining',
    'clip': 'CLIPModel',
    'siglip': 'SiglipModel',
    'starcoder2': 'Starcoder2ForCausalLM',
    'mamba2': 'Mamba2ForCausalLM',
}
WITHOUT_ATTENTION = ('convnext', 'mamba', 'mamba2')
# Names of parameters that no loss depends on here: DINO's token of hidden
# patches, of which there are none, and ESM's head for contacts.
UNUSED = r'(^|\.)embeddings\.mask_token$|\.contact_head\.'
# What a faster Mamba needs; hidden where the settings have no kernels.
MAMBA_PACKAGES = ('mamba_ssm', 'causal_conv1d', 'mambapy', 'kernels')


class Refusal(Exception):
    """What cannot be measured, and of which kind that is: "unsupported",
    "missing" (a package), "device" or "failed"."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


class TooLarge(Exception):
    """Memory was out."""

    def __init__(self, needs, available):
        super().__init__('out of memory')
        self.needs, self.available = needs, available


class Answers:
    """The lines that go back, on a descriptor that nobody else prints to."""

    def __init__(self, descriptor):
        self.file = os.fdopen(descriptor, 'w', encoding='utf-8')

    def send(self, **fields):
        self.file.write(json.dumps(fields, allow_nan=False) + '\n')
        self.file.flush()

    def progress(self, done, note):
        self.send(progress=round(done, 3), note=note)


def is_out_of_memory(error):
    """Whether an exception says that memory was out, of a GPU or the host."""
    text = str(error)
    return (isinstance(error, MemoryError)
            or type(error).__name__ == 'OutOfMemoryError'
            or 'out of memory' in text
            or "can't allocate memory" in text)


def requested_bytes(text):
    """What the allocation that failed asked for, as PyTorch words it."""
    match = re.search(r'[Tt]r(?:ied|ying) to allocate ([\d.]+) ?'
                      r'(bytes|KiB|MiB|GiB|TiB)?', text)
    if not match:
        return 0
    units = {None: 0, 'bytes': 0, 'KiB': 10, 'MiB': 20, 'GiB': 30, 'TiB': 40}
    return int(float(match.group(1)) * 2.0 ** units[match.group(2)])


def largest(fits, limit):
    """The largest power of two up to `limit` that fits, by doubling; 0 where
    not even 1 does."""
    found, size = 0, 1
    while size <= limit and fits(size):
        found, size = size, size * 2
    return found


def deepspeed_config(template, micro_batch, accumulation):
    """The configuration for one GPU: no field is left to be filled in."""
    config = {**template, 'train_micro_batch_size_per_gpu': micro_batch,
              'gradient_accumulation_steps': accumulation}
    config.pop('train_batch_size', None)
    return config


def release(version):
    """(2, 11) of '2.11.0+cu130'."""
    return tuple(int(number) for number in re.findall(r'\d+', version)[:2])


def word_of_type(kind):
    """'bf16' of torch.bfloat16; '' of what is none of those in use."""
    return dict(float32='fp32', float16='fp16',
                bfloat16='bf16').get(str(kind).rpartition('.')[2], '')


def installed(name):
    return importlib.util.find_spec(name) is not None


def end_with_parent():
    """Ends the program when nobody waits for it any more."""
    def watch():
        while os.read(0, 4096):
            pass
        os._exit(1)
    threading.Thread(target=watch, daemon=True).start()


def one_line(text):
    """A message as a line of JSON may have it: printable, of 500 bytes."""
    text = ' '.join(''.join(c if c.isprintable() else ' '
                            for c in text).split())
    return text.encode('utf-8', 'replace')[:500].decode('utf-8', 'ignore')


def load_libraries(request):
    """Imports PyTorch and Transformers into this module."""
    global torch, transformers
    if not request['settings']['kernels']:
        for name in MAMBA_PACKAGES:
            sys.modules[name] = None
    os.environ.setdefault('HF_HUB_OFFLINE', '1')
    os.environ.setdefault('TRANSFORMERS_VERBOSITY', 'error')
    try:
        import torch
        import transformers
    except ImportError as error:
        raise Refusal('missing', str(error)) from error
    if release(torch.__version__) < (2, 1):
        raise Refusal('unsupported', f'PyTorch {torch.__version__} is older '
                                     'than 2.1')
    if release(transformers.__version__) < (4, 40):
        raise Refusal('unsupported', 'Transformers '
                      f'{transformers.__version__} is older than 4.40')


def choose_device(name):
    if name in ('', 'cpu') and not (name == '' and torch.cuda.is_available()):
        return torch.device('cpu')
    name = name or 'cuda:0'
    if not torch.cuda.is_available():
        raise Refusal('device', f'this PyTorch ({torch.__version__}) sees no '
                                'GPU')
    index = int(name.split(':')[1])
    if index >= torch.cuda.device_count():
        raise Refusal('device', f'there is no device {name} for PyTorch')
    torch.cuda.set_device(index)
    return torch.device('cuda', index)


def describe(device):
    if device.type == 'cpu':
        return dict(id='cpu', name=host.cpu_name(), driver='',
                    processors=os.cpu_count() or 1, architecture=0,
                    memory_bytes=os.sysconf('SC_PAGE_SIZE')
                    * os.sysconf('SC_PHYS_PAGES'))
    facts = torch.cuda.get_device_properties(device)
    return dict(id=f'cuda:{device.index}', name=facts.name,
                driver=host.driver_version(), processors=facts.multi_processor_count,
                architecture=10 * facts.major + facts.minor,
                memory_bytes=facts.total_memory)


def compiles_deepspeed():
    """Whether its engines do; without it, what is told is that."""
    if not installed('deepspeed'):
        return True
    import deepspeed
    return hasattr(deepspeed.DeepSpeedEngine, 'compile')


def both(*parts):
    """Several optimizers, of different parameters, as one."""

    class Both(torch.optim.Optimizer):
        def step(self, closure=None):
            for part in parts:
                part.step()

    return Both([dict(params=group['params']) for part in parts
                 for group in part.param_groups], {})


class Task:
    """What is measured, and how it is done here."""

    def __init__(self, request):
        self.request = request
        self.recipe = request['recipe']
        self.family = request['config']['model_type']
        self.settings = dict(request['settings'])
        self.sharding = request['sharding']
        self.offload = request['offload']
        self.world = together.World(request)
        self.device = choose_device(self.world.device(request['devices']))
        self.world.join(self.device, self.offload)
        self.type = dict(fp16=torch.float16, bf16=torch.bfloat16,
                         fp32=None)[self.recipe['precision']]
        self.notes = []
        self.sums = ''  # in which type several sum gradients up
        self.attention = self.choose_attention()
        self.choose_compilation()
        self.set_tf32()
        if 'text_config' in request['config']:
            self.say('pairs are told from those of the same pass alone')

    def without(self, name, why):
        """Leaves a method out; the user who asked for it alone is told."""
        if not self.request['lenient']:
            raise Refusal('unsupported', why)
        self.settings[name] = False
        self.notes.append(why)

    def choose_attention(self):
        if self.family in ('mamba', 'mamba2'):
            self.choose_scan()
        if self.family in WITHOUT_ATTENTION:
            return None
        if not self.settings['kernels']:
            return 'eager'
        model = getattr(transformers, CLASSES[self.family])
        if getattr(model, '_supports_sdpa', False):
            return 'sdpa'
        flash = (getattr(model, '_supports_flash_attn', False)
                 or getattr(model, '_supports_flash_attn_2', False))
        if flash and self.type is not None and installed('flash_attn'):
            return 'flash_attention_2'
        self.without('kernels', f'Transformers {transformers.__version__} has '
                     f'no faster attention for {self.family}')
        return 'eager'

    def choose_scan(self):
        slow = ('the scan goes token by token' if self.family == 'mamba' else
                'the scan keeps products of whole chunks in memory')
        if self.settings['kernels'] and not (installed('mamba_ssm')
                                             and installed('causal_conv1d')):
            self.without('kernels', 'mamba-ssm and causal-conv1d are not '
                                    f'installed: {slow}')
        elif not self.settings['kernels']:
            self.notes.append(slow)

    def choose_compilation(self):
        if not self.settings['compile']:
            return
        if self.sharding == 'zero_3':
            self.without('compile', 'ZeRO 3 is not compiled')
        elif self.family == 'mamba':
            self.without('compile', 'Mamba is not compiled: its scan is a loop '
                                    'over all tokens')
        elif not hasattr(torch, 'compile'):
            self.without('compile', 'this PyTorch does not compile')
        elif self.sharding.startswith('zero') and not compiles_deepspeed():
            self.without('compile', 'this DeepSpeed does not compile')

    def set_tf32(self):
        on = self.settings['tf32']
        if (on and self.device.type == 'cuda'
                and torch.cuda.get_device_capability(self.device)[0] < 8):
            self.without('tf32', 'this GPU has no TF32')
            on = False
        torch.backends.cuda.matmul.allow_tf32 = on
        torch.backends.cudnn.allow_tf32 = on

    def accumulation(self, n):
        return -(-self.recipe['batch_size'] // (n * self.world.size))

    def build(self, device):
        """The model, with random weights."""
        fields = dict(self.request['config'])
        kind = fields.pop('model_type')
        fields['use_cache'] = False
        config = transformers.AutoConfig.for_model(kind, **fields)
        if self.attention:
            config._attn_implementation = self.attention
        with device:
            kind = getattr(transformers, CLASSES[self.family])
            if self.family == 'dinov3_vit':
                kind = with_head(kind)
            model = kind(config)
        for name, parameter in model.named_parameters():
            # Of these no pass has a gradient.
            if re.search(UNUSED, name):
                parameter.requires_grad_(False)
        count = sum(p.numel() for p in model.parameters() if p.requires_grad)
        if count != self.request['parameters']:
            raise Refusal('failed', f'this Transformers makes a model of '
                          f'{count} parameters, not '
                          f'{self.request["parameters"]}')
        model = model.float().train()
        if self.request['checkpoint']:
            self.checkpoint(model)
        return model

    def checkpoint(self, model):
        if getattr(model, 'supports_gradient_checkpointing', False):
            enable = getattr(model, 'activation_checkpointing_enable',
                             model.gradient_checkpointing_enable)
            enable(dict(use_reentrant=False))
        elif self.family == 'convnext':
            for stage in model.convnext.encoder.stages:
                checkpoint_calls(stage)
            self.say('each stage is a checkpoint, which Transformers itself '
                     'does not have')
        else:
            raise Refusal('unsupported', 'this Transformers has no '
                          f'checkpointing for {self.family}')

    def say(self, note):
        if note not in self.notes:
            self.notes.append(note)

    def blocks(self, model):
        """What FSDP gathers at a time."""
        return [module for module in model.modules()
                if type(module).__name__ == self.request['block']]

    def optimizer(self, model, fused):
        if self.recipe['optimizer'] == 'muon':
            return self.muon(model, fused)
        kind = dict(adam=torch.optim.Adam,
                    adamw=torch.optim.AdamW)[self.recipe['optimizer']]
        recipe = self.recipe
        return kind(model.parameters(), lr=recipe['learning_rate'],
                    betas=(recipe['beta1'], recipe['beta2']),
                    eps=recipe['epsilon'],
                    weight_decay=recipe['weight_decay'], fused=fused or None)

    def muon(self, model, fused):
        """PyTorch's of the matrices of blocks, and AdamW of all others."""
        if not hasattr(torch.optim, 'Muon'):
            raise Refusal('unsupported', f'PyTorch {torch.__version__} has no '
                          'Muon; 2.9 has')
        recipe = self.recipe
        hidden = {id(weight): weight for block in self.blocks(model)
                  for name, weight in block.named_parameters()
                  if weight.ndim == 2 and not name.endswith('A_log')}
        others = [weight for weight in model.parameters()
                  if id(weight) not in hidden]
        return both(
            torch.optim.Muon(
                list(hidden.values()), lr=recipe['muon_learning_rate'],
                weight_decay=recipe['muon_weight_decay'],
                momentum=recipe['muon_momentum'],
                adjust_lr_fn=dict(jordan='original',
                                  moonshot='match_rms_adamw')[
                                      recipe['muon_scale']]),
            torch.optim.AdamW(
                others, lr=recipe['learning_rate'],
                betas=(recipe['beta1'], recipe['beta2']),
                eps=recipe['epsilon'], weight_decay=recipe['weight_decay'],
                fused=fused or None))

    def batch(self, n):
        """Random samples."""
        config, device = self.request['config'], self.device
        if self.recipe['image_size'] > 0:
            side = self.recipe['image_size']
            channels = config.get('vision_config', config)['num_channels']
            pixels = torch.rand(n, channels, side, side, device=device)
            if self.family == 'vit_mae':
                return dict(pixel_values=pixels)
            if 'text_config' in config:
                return dict(pixel_values=pixels, return_loss=True,
                            input_ids=self.words(config['text_config'], n))
            return dict(
                pixel_values=pixels,
                labels=torch.randint(config['num_labels'], (n,), device=device))
        ids = self.words(config, n)
        return dict(input_ids=ids, labels=ids)

    def words(self, config, n):
        """Tokens, above the one that stands for nothing where there is such a
        one."""
        length = (self.recipe['sequence_length']
                  or config['max_position_embeddings'])
        padding = config.get('pad_token_id')
        least = 0 if padding is None else padding + 1
        if least >= config['vocab_size']:
            least = 0
        return torch.randint(least, config['vocab_size'], (n, length),
                             device=self.device)

    def autocast(self):
        if self.type is None:
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, dtype=self.type)


def with_head(model_class):
    """A class of Transformers that has no head, with one that classifies what
    it pools of an image."""

    class WithHead(model_class):
        def __init__(self, config):
            super().__init__(config)
            self.classifier = torch.nn.Linear(config.hidden_size,
                                              config.num_labels)

        def forward(self, pixel_values, labels):
            pooled = super().forward(pixel_values).pooler_output
            return transformers.modeling_outputs.ImageClassifierOutput(
                loss=torch.nn.functional.cross_entropy(
                    self.classifier(pooled).float(), labels))

    return WithHead


def checkpoint_calls(module):
    from torch.utils.checkpoint import checkpoint
    inner = module.forward
    module.forward = lambda *values: checkpoint(inner, *values,
                                                use_reentrant=False)


def loss_scaler(device, enabled):
    if hasattr(torch.amp, 'GradScaler'):
        return torch.amp.GradScaler(device.type, enabled=enabled)
    return torch.cuda.amp.GradScaler(enabled=enabled and device.type == 'cuda')


class Plain:
    """Everything on one device, as the Trainer does it."""

    def __init__(self, task, micro_batch, compiled):
        self.task = task
        self.model = task.build(task.device)
        self.prepare(task.device.type == 'cuda' and task.settings['kernels'],
                     compiled)
        # A step of one pass has no gradients to add to.
        self.forget = task.accumulation(micro_batch) == 1

    def prepare(self, fused, compiled):
        self.task.say('the optimizer is '
                      + ('fused' if fused else 'not fused'))
        self.optimizer = self.task.optimizer(self.model, fused)
        self.scaler = loss_scaler(self.task.device,
                                  self.task.type == torch.float16)
        self.scale = self.scaler.get_scale()
        self.call = torch.compile(self.model) if compiled else self.model

    def forward_backward(self, batch, last):
        with self.autocast():
            loss = self.call(**batch).loss
        self.scaler.scale(loss).backward()

    def autocast(self):
        return self.task.autocast()

    def update(self):
        most = self.task.recipe['max_grad_norm']
        if most > 0:
            self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), most)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=self.forget)

    def overflowed(self):
        """Whether the last update was left out."""
        before, self.scale = self.scale, self.scaler.get_scale()
        return self.scale < before

    def close(self):
        self.__dict__.clear()


class Replicated(Plain):
    """The whole model on each device; gradients are summed in the last pass of
    a step, as Accelerate has it done."""

    def prepare(self, fused, compiled):
        devices = ([self.task.device.index]
                   if self.task.device.type == 'cuda' else None)
        self.inner = self.model
        self.model = torch.nn.parallel.DistributedDataParallel(
            self.inner, device_ids=devices, gradient_as_bucket_view=True)
        # Those of autocast have the type of the weights.
        self.task.sums = word_of_type(next(self.inner.parameters()).dtype)
        super().prepare(fused, compiled)

    def forward_backward(self, batch, last):
        with contextlib.nullcontext() if last else self.model.no_sync():
            super().forward_backward(batch, last)


class Sharded(Plain):
    """FSDP, where it offloads with everything of an update in the memory of the
    host.  Gradients are summed with every pass, or they would not be shared."""

    def __init__(self, task, micro_batch, compiled):
        self.task = task
        together.init_distributed(task.device, task.offload)
        self.model = task.build(torch.device('cpu') if task.offload
                                else task.device)
        self.shard()
        # Adam on the processor is one loop, too, if it is fused.
        self.prepare(task.device.type == 'cuda' and task.settings['kernels'],
                     compiled)
        self.forget = task.accumulation(micro_batch) == 1

    def shard(self):
        task = self.task
        task.sums = 'fp32'
        module = torch.distributed.fsdp
        if not hasattr(module, 'fully_shard'):
            from torch.distributed._composable import fsdp as module
        mesh = torch.distributed.device_mesh.init_device_mesh(
            task.device.type, (task.world.size,))
        options = dict(mesh=mesh,
                       reshard_after_forward=task.sharding == 'fsdp_3')
        if task.offload:
            options['offload_policy'] = module.CPUOffloadPolicy(
                pin_memory=task.device.type == 'cuda')
        if task.type is not None:
            options['mp_policy'] = module.MixedPrecisionPolicy(
                param_dtype=task.type, reduce_dtype=torch.float32)
        for block in task.blocks(self.model):
            module.fully_shard(block, **options)
        module.fully_shard(self.model, **options)
        for name, buffer in list(self.model.named_buffers()):
            owner, _, last = name.rpartition('.')
            self.model.get_submodule(owner)._buffers[last] = buffer.to(
                task.device)

    def autocast(self):
        """The policy has weights and inputs in the narrow type; autocast on
        top of it would only make some of that wide again, as normalization."""
        return contextlib.nullcontext()


class Zero:
    """DeepSpeed, with the configuration that `qm-bench export` writes."""

    def __init__(self, task, micro_batch, compiled):
        import deepspeed
        together.init_distributed(task.device, task.offload)
        model = task.build(torch.device('cpu') if task.offload
                           else task.device)
        self.engine = deepspeed.initialize(
            model=model, model_parameters=model.parameters(),
            config=deepspeed_config(task.request['deepspeed'], micro_batch,
                                    task.accumulation(micro_batch)))[0]
        if compiled:
            self.engine.compile()
        self.type = next(iter(self.engine.module.parameters())).dtype
        if task.world.size > 1:
            task.sums = word_of_type(
                getattr(self.engine, 'communication_data_type', None))

    def forward_backward(self, batch, last):
        self.engine.set_gradient_accumulation_boundary(last)
        inputs = {name: value.to(self.type) if torch.is_tensor(value)
                  and value.is_floating_point() else value
                  for name, value in batch.items()}
        self.engine.backward(self.engine(**inputs).loss)

    def update(self):
        self.engine.step()

    def overflowed(self):
        return bool(getattr(self.engine.optimizer, 'overflow', False))

    def close(self):
        with contextlib.suppress(AttributeError):
            self.engine.destroy()
        self.__dict__.clear()


def kind_of_step(sharding, gpus):
    if sharding == 'none':
        return Plain if gpus == 1 else Replicated
    if sharding.startswith('zero'):
        if not installed('deepspeed'):
            raise Refusal('unsupported', 'DeepSpeed is not installed')
        return Zero
    if release(torch.__version__) < (2, 4):
        raise Refusal('unsupported', 'FSDP by parameter needs PyTorch 2.4, '
                                     f'this is {torch.__version__}')
    return Sharded


class Clock:
    """Seconds that a call takes of the device and all that it waits for; of
    several, which begin together, those of the slowest."""

    def __init__(self, device, world):
        self.device, self.world = device, world

    def time(self, call):
        self.world.largest(0)
        return self.world.largest(self.time_here(call))

    def time_here(self, call):
        if self.device.type == 'cpu':
            begin = time.perf_counter()
            call()
            return time.perf_counter() - begin
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize(self.device)
        begin.record()
        call()
        end.record()
        end.synchronize()
        torch.cuda.synchronize(self.device)
        return begin.elapsed_time(end) * 1e-3


class Meter:
    """Tries micro-batches, and measures one."""

    def __init__(self, task, answers):
        self.task, self.answers = task, answers
        self.kind = kind_of_step(task.sharding, task.world.size)
        self.step = None
        self.shortage = None
        self.peak = None

    def close(self):
        if self.step is not None:
            self.step.close()
            self.step = None
        gc.collect()
        if self.task.device.type == 'cuda':
            torch.cuda.empty_cache()

    @contextlib.contextmanager
    def watch_memory(self):
        """Turns all the ways of being out of memory into one."""
        device = self.task.device
        if device.type == 'cuda':
            torch.cuda.reset_peak_memory_stats(device)
        try:
            yield
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            if device.type == 'cuda':
                needs = torch.cuda.max_memory_allocated(device)
                available = torch.cuda.get_device_properties(
                    device).total_memory
            else:
                needs, available = 0, host.cpu_available() or 0
            raise TooLarge(needs + requested_bytes(str(error)),
                           available) from None
        if device.type == 'cuda':
            self.peak = torch.cuda.max_memory_allocated(device)

    def open(self, micro_batch, compiled=False):
        with self.watch_memory():
            self.step = self.kind(self.task, micro_batch, compiled)

    def fits(self, n):
        """Whether passes of n samples do, with the states of the optimizer."""
        limit = self.task.recipe['batch_size'] // self.task.world.size
        self.answers.progress(
            0.1 + 0.3 * math.log2(2 * n) / math.log2(4 * limit),
            f'trying a micro-batch of {n}')
        before = None
        try:
            if self.step is None:
                self.open(n)
            before = host.cpu_available()
            with self.watch_memory():
                batch = self.task.batch(n)
                # DeepSpeed wants an update after the last pass of a step.
                self.step.forward_backward(batch, n == 1)
                if n == 1:
                    self.make_states(batch)
                if self.task.device.type == 'cuda':
                    torch.cuda.synchronize(self.task.device)
        except TooLarge as error:
            self.remember(error)
            return self.agree(False)
        if self.task.device.type != 'cuda' and before is not None:
            needs = self.host_needs() * self.task.world.size
            if needs >= before:
                self.remember(TooLarge(needs, before))
                return self.agree(False)
        return self.agree(True)

    def agree(self, fits):
        """Whether it fits all; of those where it does, what another lacks is
        not known."""
        if self.task.world.any(not fits) and fits:
            self.remember(TooLarge(0, 0))
            return False
        return fits

    def make_states(self, batch):
        """Updates once, so that there are the states of the optimizer."""
        self.step.update()
        for _ in range(MOST_OVERFLOWS):
            overflowed = self.step.overflowed()
            self.step.forward_backward(batch, overflowed)
            if not overflowed:
                return
            self.step.update()
        raise Refusal('failed', 'the gradients are not finite')

    @staticmethod
    def host_needs():
        """A host that is out of memory ends programs; twice as much as the last
        size took has to be there."""
        import resource
        return 2 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def search(self):
        found = largest(self.fits, self.task.recipe['batch_size']
                        // self.task.world.size)
        self.close()
        return found

    def remember(self, error):
        """Keeps what an exception says; itself, it would keep everything that
        was there when it was raised, which is all of the memory."""
        self.shortage = TooLarge(error.needs, error.available)

    def measure(self, n):
        """Times of passes and updates at a micro-batch, or a smaller one."""
        while True:
            try:
                return n, *self.measure_one(n)
            except TooLarge as error:
                self.remember(error)
            self.close()
            if self.task.request['micro_batch'] or n == 1:
                raise self.shortage
            n //= 2

    def measure_one(self, n):
        compiled = self.task.settings['compile']
        note = (('compiling' if compiled else 'warming up')
                + f' at a micro-batch of {n}')
        self.answers.progress(0.4, note)
        self.open(n, compiled)
        passes, updates = [], []
        done = overflows = 0
        with self.watch_memory():
            batch = self.task.batch(n)
            while done < WARM_UPS + SAMPLES:
                self.answers.progress(
                    0.5 + 0.5 * done / (WARM_UPS + SAMPLES),
                    note if done < WARM_UPS else 'measuring')
                times = self.time_step(batch, self.task.accumulation(n) > 1)
                if self.step.overflowed():
                    overflows += 1
                    if overflows > MOST_OVERFLOWS:
                        raise Refusal('failed', 'the gradients are not finite')
                    continue
                done += 1
                if done > WARM_UPS:
                    passes.append(times[0])
                    updates.append(times[1])
        self.answers.progress(1, 'done')
        return passes, updates

    def time_step(self, batch, more):
        """Seconds of a pass and of an update; with `more`, of a pass that adds
        to what is there, as most of a step are.  The last pass of a step may
        have more to do, which then counts as the update."""
        clock = Clock(self.task.device, self.task.world)

        def run(last):
            return clock.time(lambda: self.step.forward_backward(batch, last))

        first = run(False) if more else None
        last = run(True)
        update = clock.time(self.step.update)
        if first is None:
            return last, update
        if self.kind is Zero or self.task.world.size > 1:
            return first, update + max(0.0, last - first)
        return (first + last) / 2, update


def versions(task):
    found = dict(torch=torch.__version__.split('+')[0],
                 transformers=transformers.__version__,
                 cuda=torch.version.cuda or '',
                 python='.'.join(map(str, sys.version_info[:3])))
    if task.sharding.startswith('zero'):
        import deepspeed
        found['deepspeed'] = deepspeed.__version__
    return found


def most_used(task, meter):
    """Bytes of the device that has most of them in use."""
    if meter.peak is None:
        return None
    return int(task.world.largest(meter.peak))


def answer(request, answers):
    begin = time.monotonic()
    answers.progress(0, 'loading PyTorch and Transformers')
    load_libraries(request)
    warnings.simplefilter('ignore')
    transformers.logging.set_verbosity_error()
    torch.manual_seed(request['seed'])
    torch.use_deterministic_algorithms(request['deterministic'],
                                       warn_only=True)
    task = Task(request)
    meter = Meter(task, answers)
    loaded = time.monotonic()
    answers.progress(0.05, f'PyTorch {torch.__version__}, Transformers '
                           f'{transformers.__version__} on {task.device}')
    n = request['micro_batch'] or meter.search()
    searched = time.monotonic()
    result = dict(device=describe(task.device), framework=versions(task))
    try:
        if n == 0:
            raise meter.shortage
        n, passes, updates = meter.measure(n)
        result.update(status='measured', micro_batch=n, pass_s=passes,
                      update_s=updates, used_bytes=most_used(task, meter))
    except TooLarge as error:
        result.update(status='infeasible', needs_bytes=error.needs,
                      available_bytes=error.available,
                      micro_batch=request['micro_batch'] or 1,
                      memory='device' if task.device.type == 'cuda'
                      else 'host')
    result['settings'] = task.settings
    result['attention'] = task.attention or ''
    result['sums'] = task.sums
    result['notes'] = task.notes
    now = time.monotonic()
    result['phases_s'] = dict(load=loaded - begin, search=searched - loaded,
                              measure=now - searched, total=now - begin)
    answers.send(result=result)


def take_question(answers):
    """The question, and where this process puts its answers; of several, the
    process that was asked becomes the one that starts them."""
    line = os.environ.get(together.QUESTION) or sys.stdin.readline()
    request = json.loads(line)
    if request['gpus'] == 1:
        return request, answers
    if together.QUESTION not in os.environ:
        os.dup2(answers.file.fileno(), 1)
        together.become_torchrun(os.path.abspath(__file__), line,
                                 request['gpus'])
        raise Refusal('missing', "No module named 'torch'")
    rank = int(os.environ['RANK'])
    return request, together.Silence(answers, rank) if rank > 0 else answers


def main():
    answers = Answers(os.dup(1))
    os.dup2(2, 1)
    status = 0
    try:
        request, answers = take_question(answers)
        end_with_parent()
        answer(request, answers)
    except Refusal as error:
        answers.send(error=dict(kind=error.kind, message=one_line(str(error))))
    except Exception as error:  # pylint: disable=broad-exception-caught
        import traceback
        traceback.print_exc()
        answers.send(error=dict(kind='failed', message=one_line(
            f'{type(error).__name__}: {error}')))
        status = 1
    sys.stderr.flush()
    # Libraries may have threads that do not end.
    os._exit(status)


if __name__ == '__main__':
    main()
