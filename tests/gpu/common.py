# SPDX-License-Identifier: Apache-2.0
"""What the checks against PyTorch share: small random models, written to files
that qm-bench and PyTorch both read, and the catalog's models."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The models of the catalog, with a micro-batch that fits in 141 GB and the bar
# of our time over that of compiled PyTorch, forward and backward.
MODELS = {
    'pythia-160m': (64, 0.60),
    'pythia-410m': (32, 0.63),
    'pythia-1b': (32, 0.74),
    'pythia-2.8b': (8, 0.74),
    'pythia-6.9b': (2, 0.70),
    'roberta-large': (64, 0.65),
    'vit-large': (256, 0.85),
    'convnext-xlarge': (128, 0.40),
}

# Those that labs train today, likewise.
MODERN = {
    'llama-3.2-1b': (8, 0.73),
    'olmo-2-1b': (8, 0.76),
    'qwen3-0.6b': (8, 0.54),
    'gpt2-124m': (64, 0.70),
    'modernbert-large': (32, 0.55),
    'esm-2-650m': (16, 0.70),
    'olmoe-1b-7b': (2, 0.53),
    'dinov2-large-supervised': (128, 0.33),
    'dinov3-large-supervised': (128, 0.70),
    'mae-large': (256, 0.70),
    'dit-xl-2': (128, 0.70),
    'clip-vit-l-14': (256, 0.70),
    'smollm3-3b': (2, 0.70),
    'starcoder2-3b': (2, 0.70),
}
SIZES = {**MODELS, **MODERN}


def arguments(description, **defaults):
    """A parser of what every check takes."""
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument('--bench', default=ROOT / 'build/app/qm-bench',
                        help='the program qm-bench')
    parser.add_argument('--device', default='cuda:0')
    for name, value in defaults.items():
        parser.add_argument('--' + name.replace('_', '-'), default=value,
                            type=type(value))
    return parser


def bench(program, *words, timeout=600):
    """Runs qm-bench; returns its status, its JSON lines, its messages."""
    result = subprocess.run(
        [str(program), *map(str, words)], capture_output=True, text=True,
        timeout=timeout, check=False,
        env={'QUARTERMASTER_DATA_DIR': str(ROOT / 'data'), **os.environ})
    lines = [json.loads(line) for line in result.stdout.splitlines()
             if line.startswith('{')]
    return result.returncode, lines, result.stderr.strip()


def catalog(model):
    """(config, recipe) of a model of the catalog."""
    text = json.loads((ROOT / 'data/models' / f'{model}.json').read_text())
    return text['config'], text['recipe']


def build(config):
    """The Transformers model of a config.json."""
    import transformers
    config = dict(config)
    if '_class_name' in config:
        return dit(config)
    kind = config.pop('model_type')
    # Only labels: Transformers would initialise weights in this type.
    for name in ('architectures', 'torch_dtype'):
        config.pop(name, None)
    if kind not in ('convnext', 'mamba', 'mamba2'):
        config['attn_implementation'] = 'sdpa'
    if 'head_n_prototypes' in config:
        return pair(kind, config)
    made = transformers.AutoConfig.for_model(kind, **config)
    classes = dict(gpt_neox='GPTNeoXForCausalLM', bert='BertForMaskedLM',
                   roberta='RobertaForMaskedLM',
                   vit='ViTForImageClassification',
                   convnext='ConvNextForImageClassification',
                   mamba='MambaForCausalLM', llama='LlamaForCausalLM',
                   mistral='MistralForCausalLM', qwen2='Qwen2ForCausalLM',
                   qwen3='Qwen3ForCausalLM', olmo2='Olmo2ForCausalLM',
                   olmo3='Olmo3ForCausalLM', smollm3='SmolLM3ForCausalLM',
                   gemma3_text='Gemma3ForCausalLM', gpt2='GPT2LMHeadModel',
                   starcoder2='Starcoder2ForCausalLM',
                   mamba2='Mamba2ForCausalLM',
                   modernbert='ModernBertForMaskedLM',
                   esm='EsmForMaskedLM', olmoe='OlmoeForCausalLM',
                   qwen3_moe='Qwen3MoeForCausalLM',
                   mixtral='MixtralForCausalLM',
                   vit_mae='ViTMAEForPreTraining', clip='CLIPModel',
                   siglip='SiglipModel',
                   dinov2='Dinov2ForImageClassification',
                   dinov2_with_registers='Dinov2WithRegistersFor'
                                         'ImageClassification')
    if kind == 'dinov3_vit':
        return with_head(transformers.DINOv3ViTModel)(made)
    model = getattr(transformers, classes[kind])(made)
    if 'vision_config' in config:
        told = model.forward
        model.forward = lambda **batch: told(return_loss=True, **batch)
    if kind == 'mamba2':
        by_groups(model, made.n_groups)
    if kind == 'vit_mae':
        place(model.vit.embeddings.position_embeddings)
        place(model.decoder.decoder_pos_embed)
    return model


def make_batch(config, recipe, n, device='cuda'):
    """Made-up samples of a model of the catalog, as its class takes them."""
    import torch
    if '_class_name' in config:
        shape = (n, config['in_channels']) + 2 * (config['sample_size'],)
        return dict(pixel_values=torch.randn(shape, device=device),
                    noise=torch.randn(shape, device=device),
                    labels=torch.randint(0, config['num_embeds_ada_norm'],
                                         (n,), device=device),
                    timesteps=torch.randint(0, 1000, (n,), device=device))
    if recipe.get('image_size', 0) > 0:
        side = recipe['image_size']
        pixels = torch.rand(n, 3, side, side, device=device)
        if config['model_type'] == 'vit_mae':
            return dict(pixel_values=pixels)
        if 'text_config' in config:
            text = config['text_config']
            return dict(pixel_values=pixels, input_ids=torch.randint(
                text['vocab_size'], (n, text['max_position_embeddings']),
                device=device))
        return dict(pixel_values=pixels,
                    labels=torch.randint(0, config['num_labels'], (n,),
                                         device=device))
    ids = torch.randint(0, config['vocab_size'],
                        (n, recipe['sequence_length']), device=device)
    return dict(input_ids=ids, labels=ids)


def pair(kind, config):
    """A student with its teacher, which Transformers has no class for."""
    sys.path.append(str(ROOT / 'tests/golden'))
    import make
    model_class, config_class, fields = make.dino_pair(kind, **config)
    return model_class(config_class(**fields))


def dit(config):
    """The authors' model, which Transformers has no class for; positions are
    in its file.  Its attention is the fused one, as timm's, whose class the
    authors took, is by now."""
    sys.path.append(str(ROOT / 'tests/golden'))
    import make
    make.DitBlock.attend = attend
    return make.Dit(make.DitConfig(**config))


def attend(block, x):
    import torch
    batch, tokens, hidden = x.shape
    q, k, v = block.attn.qkv(x).reshape(
        batch, tokens, 3, block.config.num_attention_heads,
        -1).permute(2, 0, 3, 1, 4)
    x = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    return block.attn.proj(x.transpose(1, 2).reshape(batch, tokens, hidden))


def by_groups(model, groups):
    """Gated norms over the channels of a group, as the authors' kernels and
    Transformers 5.23 have them; 5.17 takes those of all groups together."""
    import torch
    for layer in model.backbone.layers:
        norm = layer.mixer.norm
        if not hasattr(norm, 'group_size'):
            def forward(x, gate=None, norm=norm):
                kind = x.dtype
                x = x.float()
                if gate is not None:
                    x = x * torch.nn.functional.silu(gate.float())
                x = x.unflatten(-1, (groups, -1))
                x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True)
                                    + norm.variance_epsilon)
                return norm.weight * x.flatten(-2).to(kind)
            norm.forward = forward


def place(table):
    """Sines and cosines of columns, then of rows, as the authors of MAE have
    them; a new model of Transformers 5.23 has zeros."""
    import torch
    side, quarter = int((table.shape[1] - 1) ** 0.5), table.shape[2] // 4
    waves = 10000.0 ** -(torch.arange(quarter, dtype=torch.float64) / quarter)
    angles = torch.arange(side, dtype=torch.float64)[:, None] * waves
    one = torch.cat([angles.sin(), angles.cos()], dim=1)
    both = torch.cat([one.repeat(side, 1), one.repeat_interleave(side, 0)], 1)
    with torch.no_grad():
        table[0, 0] = 0
        table[0, 1:] = both.to(table)


def with_head(model_class):
    """A class of Transformers that has no head, with one that classifies what
    it pools of an image."""
    import torch

    class WithHead(model_class):
        def __init__(self, config):
            super().__init__(config)
            self.classifier = torch.nn.Linear(config.hidden_size,
                                              config.num_labels)

        def forward(self, pixel_values, labels):
            import transformers
            pooled = super().forward(pixel_values).pooler_output
            return transformers.modeling_outputs.ImageClassifierOutput(
                loss=torch.nn.functional.cross_entropy(
                    self.classifier(pooled), labels))

    return WithHead


def stored(tensors):
    """Under the names that files have: those of DINOv2 have a gate, and what it
    is multiplied by, as one; those of a student leave out what it is called."""
    import torch
    result = {}
    student = any(name.startswith('dino_head.') for name in tensors)
    for name, tensor in tensors.items():
        for prefix in ('backbone.model.', 'backbone.') if student else ():
            name = name.removeprefix(prefix)
        if 'dinov2' in name and '.mlp.up_proj.' in name:
            continue
        if 'dinov2' in name and '.mlp.gate_proj.' in name:
            tensor = torch.cat((tensor, tensors[name.replace('gate', 'up')]))
            name = name.replace('gate_proj', 'weights_in')
        if tensor.numel() > 0:
            result[name] = tensor
    return result


def conclude(failures, checks, skipped=0):
    """Prints the sum and ends the program."""
    print(f'{checks - failures - skipped} passed, {failures} failed'
          + (f', {skipped} not supported' if skipped else ''))
    sys.exit(1 if failures else 0)
