# SPDX-License-Identifier: Apache-2.0
"""Holds loss and gradients of qm-bench against PyTorch's.

Random models of every family, and the tiny ones of tests/golden, go through one
forward and backward pass in fp32, TF32, fp16 and bf16, with every setting, by
`qm-bench check`; and through PyTorch, likewise (autocast for 16 bits) and in
fp64, which is the reference for all.  Errors are relative L2: over all
gradients as one vector, and the worst of a single parameter.  Parameters whose
gradient is zero but for rounding, as that of the bias of keys, are left out of
the worst.

Passes: fp32 under 1e-4; TF32 under 1e-3 or, where a model magnifies what
rounding factors to 10 bits loses so that PyTorch's own error is larger, no more
than 1.25 times that; 16 bits no more than 1.3 times PyTorch's own error.  Errors
of roundings are random: so many models of each kind are drawn as --seeds says,
and the geometric means of their errors are compared.  What is drawn once, as
models of tests/golden are, may be off by twice PyTorch's error by chance, and
all of these together are held to 1.3.  The loss of each is held to what LOSSES
says.
"""

import collections
import concurrent.futures
import json
import math
import pathlib
import tempfile

import torch
from safetensors.torch import load_file, save_file

import common

GOLDEN = common.ROOT / 'tests/golden'
SETTINGS = ('naive', 'compile', 'kernels', 'free-lunch')
PRECISIONS = ('fp32', 'tf32', 'fp16', 'bf16')

# Exit status of qm-bench where a device has no kernels for a family.
UNSUPPORTED = 5

# What the loss may be off by, relative to that in fp64, or by twice what
# PyTorch's is.
LOSSES = dict(fp32=1e-5, tf32=1e-3, fp16=1e-3, bf16=1e-2)

# Draws that a mean of errors is of, at least, to be held to what is so on
# average.
ENOUGH = 3

# Names of models that are drawn before PyTorch comes to them.
AHEAD = 4

# A parameter with less than this share of the whole norm says nothing.
SMALL = 1e-4


def gpt_neox(hidden, heads, length, batch, **changes):
    return dict(model_type='gpt_neox', hidden_size=hidden, num_hidden_layers=4,
                num_attention_heads=heads, intermediate_size=4 * hidden,
                vocab_size=5027, max_position_embeddings=2048,
                rotary_pct=0.25, layer_norm_eps=1e-5, **changes), length, batch


def bert(kind, hidden, heads, length, batch, **changes):
    return dict(model_type=kind, hidden_size=hidden, num_hidden_layers=4,
                num_attention_heads=heads, intermediate_size=4 * hidden,
                vocab_size=5027, max_position_embeddings=514,
                type_vocab_size=2 if kind == 'bert' else 1,
                pad_token_id=0 if kind == 'bert' else 1,
                hidden_dropout_prob=0, attention_probs_dropout_prob=0,
                **changes), length, batch


def vit(hidden, heads, side, batch, **changes):
    return dict(model_type='vit', hidden_size=hidden, num_hidden_layers=4,
                num_attention_heads=heads, intermediate_size=4 * hidden,
                image_size=side, patch_size=16, num_channels=3,
                id2label={str(i): str(i) for i in range(1003)},
                **changes), None, batch


def dino(kind, hidden, heads, side, batch, **changes):
    """Branches are scaled by about 1, and by numbers of their own: randomise()
    makes them of its own."""
    if kind == 'dinov3_vit':
        changes.setdefault('intermediate_size', 4 * hidden)
    return {'model_type': kind, 'hidden_size': hidden, 'num_hidden_layers': 4,
            'num_attention_heads': heads, 'image_size': side, 'patch_size': 14,
            'num_channels': 3,
            'id2label': {str(i): str(i) for i in range(1003)},
            **changes}, None, batch


def pair(kind, hidden, heads, side, batch, **changes):
    config, length, batch = dino(kind, hidden, heads, side, batch)
    del config['id2label']
    config.update(head_n_prototypes=4096, head_hidden_dim=384,
                  head_bottleneck_dim=128, head_nlayers=3,
                  local_crops_number=4, local_crops_size=98,
                  teacher_temp=0.07)
    config.update(changes)
    if 'ibot_head_n_prototypes' in config:
        config.setdefault('ibot_head_bottleneck_dim', 96)
        config.setdefault('mask_ratio', 0.3)
    return config, length, batch


def vit_mae(hidden, heads, decoder, side, batch, **changes):
    return dict({'model_type': 'vit_mae', 'hidden_size': hidden,
                 'num_hidden_layers': 4, 'num_attention_heads': heads,
                 'intermediate_size': 4 * hidden, 'image_size': side,
                 'patch_size': 16, 'num_channels': 3,
                 'decoder_hidden_size': decoder,
                 'decoder_num_hidden_layers': 2,
                 'decoder_num_attention_heads': 4,
                 'decoder_intermediate_size': 4 * decoder}, **changes), \
        None, batch


def dit(heads, size, side, batch, **changes):
    return dict({'_class_name': 'DiTTransformer2DModel', 'num_layers': 4,
                 'num_attention_heads': heads, 'attention_head_dim': size,
                 'sample_size': side, 'in_channels': 4, 'out_channels': 8,
                 'patch_size': 2, 'num_embeds_ada_norm': 1000}, **changes), \
        None, batch


def towers(kind, vision, text, batch, **changes):
    """Of (hidden, heads, pixels, patch) and (hidden, heads, tokens)."""
    def tower(hidden, heads, **more):
        return dict(hidden_size=hidden, num_attention_heads=heads,
                    num_hidden_layers=4, intermediate_size=4 * hidden, **more)

    config = dict(
        model_type=kind,
        vision_config=tower(*vision[:2], image_size=vision[2],
                            patch_size=vision[3]),
        text_config=tower(*text[:2], max_position_embeddings=text[2],
                          vocab_size=5027))
    if kind == 'clip':
        config['projection_dim'] = 192
        config['text_config']['eos_token_id'] = 5026
    else:
        config['text_config']['projection_size'] = vision[0]
    return dict(config, **changes), None, batch


def convnext(sizes, depths, side, batch, **changes):
    return dict(model_type='convnext', hidden_sizes=sizes, depths=depths,
                num_stages=len(sizes), image_size=side, num_channels=3,
                id2label={str(i): str(i) for i in range(1003)},
                **changes), None, batch


def mamba(hidden, length, batch, **changes):
    return {'model_type': 'mamba', 'hidden_size': hidden,
            'num_hidden_layers': 4, 'vocab_size': 5027, 'state_size': 16,
            **changes}, length, batch


def mamba2(heads, size, length, batch, **changes):
    return {'model_type': 'mamba2', 'hidden_size': heads * size // 2,
            'num_heads': heads, 'head_dim': size, 'n_groups': 1,
            'num_hidden_layers': 4, 'vocab_size': 5027, 'state_size': 128,
            **changes}, length, batch


def llama_like(kind, hidden, heads, key_heads, length, batch, **changes):
    return {'model_type': kind, 'hidden_size': hidden, 'num_hidden_layers': 4,
            'num_attention_heads': heads, 'num_key_value_heads': key_heads,
            'intermediate_size': 3 * hidden - 8, 'vocab_size': 5027,
            'max_position_embeddings': 4096, 'pad_token_id': 0,
            'bos_token_id': 1, 'eos_token_id': 2, **changes}, length, batch


def gpt2(hidden, heads, length, batch, **changes):
    return dict(model_type='gpt2', n_embd=hidden, n_layer=4, n_head=heads,
                vocab_size=5027, n_positions=2049, resid_pdrop=0,
                embd_pdrop=0, attn_pdrop=0, bos_token_id=1, eos_token_id=2,
                **changes), length, batch


def modernbert(hidden, heads, length, batch, **changes):
    return dict(model_type='modernbert', hidden_size=hidden,
                num_hidden_layers=4, num_attention_heads=heads,
                intermediate_size=3 * hidden - 8, vocab_size=5027,
                pad_token_id=0, bos_token_id=1, eos_token_id=2,
                cls_token_id=1, sep_token_id=2, **changes), length, batch


def esm(hidden, heads, length, batch, **changes):
    return dict(model_type='esm', hidden_size=hidden, num_hidden_layers=4,
                num_attention_heads=heads, intermediate_size=4 * hidden,
                vocab_size=33, mask_token_id=32, pad_token_id=1,
                position_embedding_type='rotary', layer_norm_eps=1e-5,
                hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                **changes), length, batch


LLAMA3 = dict(rope_type='llama3', factor=8.0, low_freq_factor=1.0,
              high_freq_factor=4.0, original_max_position_embeddings=512)
YARN = dict(rope_type='yarn', factor=4.0, original_max_position_embeddings=512)

# Heads for each of keys: 1, 2, 4, 8; windows below and above the length.
LLAMA_CASES = {
    'llama-64-17': llama_like('llama', 256, 4, 4, 17, 5),
    'llama-64-2049-of-4': llama_like(
        'llama', 512, 8, 2, 2049, 2, rope_theta=5e5, rope_scaling=LLAMA3,
        tie_word_embeddings=True),
    'llama-128-129-of-8': llama_like('llama', 512, 8, 1, 129, 3, head_dim=128,
                                     attention_bias=True, mlp_bias=True),
    'mistral-80-1023-of-2': llama_like('mistral', 320, 4, 2, 1023, 2,
                                       sliding_window=200),
    'mistral-128-257': llama_like('mistral', 384, 3, 3, 257, 3,
                                  sliding_window=4096),
    'qwen2-64-513-of-2': llama_like(
        'qwen2', 384, 6, 3, 513, 2, use_sliding_window=True,
        sliding_window=129, max_window_layers=2, rope_scaling=YARN),
    'qwen3-128-2049-of-2': llama_like('qwen3', 512, 4, 2, 2049, 1,
                                      head_dim=128, tie_word_embeddings=True),
    'qwen3-128-129-prime': llama_like('qwen3', 256, 7, 7, 129, 3),
    'olmo2-128-513': llama_like('olmo2', 512, 4, 4, 513, 2),
    'olmo2-64-129-of-5': llama_like('olmo2', 320, 5, 1, 129, 3),
    'olmo3-64-1023-of-4': llama_like('olmo3', 512, 8, 2, 1023, 2,
                                     sliding_window=257, rope_scaling=YARN),
    'smollm3-64-513-of-4': llama_like('smollm3', 512, 8, 2, 513, 2),
    'gemma3-256-513-of-4': llama_like(
        'gemma3_text', 640, 4, 1, 513, 2, sliding_window=100,
        sliding_window_pattern=2),
    'starcoder2-64-1023-of-4': llama_like('starcoder2', 512, 8, 2, 1023, 2,
                                          sliding_window=200),
    'starcoder2-80-333': llama_like(
        'starcoder2', 320, 4, 4, 333, 3, use_bias=False,
        tie_word_embeddings=False, sliding_window=4096),
    'starcoder2-128-257-of-3': llama_like('starcoder2', 384, 3, 1, 257, 3),
    'gpt2-64-1024': gpt2(512, 8, 1024, 2),
    'gpt2-80-333': gpt2(320, 4, 333, 3, tie_word_embeddings=False,
                        scale_attn_by_inverse_layer_idx=True),
}

# Groups of many rows and of few, that no tile divides; with two tokens for every
# five experts some have none.
EXPERT_CASES = {
    'olmoe-128-1023': llama_like(
        'olmoe', 512, 4, 4, 1023, 2, intermediate_size=128, num_experts=16,
        num_experts_per_tok=4, output_router_logits=True),
    'olmoe-64-17': llama_like(
        'olmoe', 256, 4, 4, 17, 3, intermediate_size=72, num_experts=64,
        num_experts_per_tok=2, norm_topk_prob=True),
    'qwen3-moe-64-513': llama_like(
        'qwen3_moe', 384, 6, 3, 513, 2, head_dim=64, num_experts=7,
        num_experts_per_tok=1, moe_intermediate_size=200,
        output_router_logits=True, mlp_only_layers=[2]),
    'mixtral-128-257': llama_like(
        'mixtral', 512, 4, 2, 257, 3, intermediate_size=264,
        num_local_experts=8, sliding_window=100),
}

# Local layers that see all, few, and nothing but the token itself.
ENCODER_CASES = {
    'modernbert-64-1023': modernbert(512, 8, 1023, 2),
    'modernbert-64-2049': modernbert(256, 4, 2049, 1, local_attention=300),
    'modernbert-64-129-wide': modernbert(448, 7, 129, 3, local_attention=500),
    'modernbert-80-513': modernbert(320, 4, 513, 2, local_attention=1,
                                    global_attn_every_n_layers=2),
    'modernbert-128-257': modernbert(
        384, 3, 257, 3, local_attention=20, norm_bias=True,
        attention_bias=True, mlp_bias=True, classifier_bias=True,
        decoder_bias=False, tie_word_embeddings=False),
    'modernbert-32-17': modernbert(256, 8, 17, 5, local_attention=6),
    'esm-64-1023': esm(512, 8, 1023, 2, token_dropout=True),
    'esm-80-333': esm(320, 4, 333, 3, token_dropout=True,
                      emb_layer_norm_before=True, tie_word_embeddings=False),
    'esm-128-17': esm(384, 3, 17, 5),
}

VISION_CASES = {
    'dinov2-64-257': dino('dinov2', 512, 8, 224, 8),
    'dinov2-80-gated': dino('dinov2', 320, 4, 117, 5, use_swiglu_ffn=True,
                            qkv_bias=False),
    'dinov2-64-registers': dino('dinov2_with_registers', 256, 4, 224, 6,
                                num_register_tokens=4),
    'dinov3-64-261': dino('dinov3_vit', 512, 8, 224, 8,
                          num_register_tokens=4),
    'dinov2-pair-64-257': pair('dinov2', 512, 8, 224, 8, use_mask_token=True,
                               ibot_head_n_prototypes=2048, mask_ratio=0.3,
                               koleo_loss_weight=0.1, use_swiglu_ffn=True),
    'dinov2-pair-80-odd': pair('dinov2_with_registers', 320, 4, 117, 5,
                               head_n_prototypes=1003, local_crops_size=50,
                               head_bottleneck_dim=130, head_nlayers=2),
    'dinov3-pair-64-261': pair('dinov3_vit', 512, 8, 224, 6,
                               num_register_tokens=4, local_crops_number=6,
                               ibot_head_n_prototypes=1000, mask_ratio=0.1),
    'vit-mae-64-32': vit_mae(512, 8, 128, 224, 8, norm_pix_loss=True),
    'vit-mae-80-half': vit_mae(320, 4, 256, 112, 5, mask_ratio=0.5,
                               qkv_bias=False),
    'vit-mae-64-odd': vit_mae(256, 4, 192, 210, 3, patch_size=14,
                              norm_pix_loss=True, mask_ratio=0.6),
    'dit-72-256': dit(4, 72, 32, 6),
    'dit-64-plain': dit(4, 64, 24, 5, out_channels=None, patch_size=3,
                        in_channels=3, activation_fn='gelu',
                        attention_bias=False, class_dropout_prob=0.0),
    'dit-44-289': dit(3, 44, 17, 3, patch_size=1, norm_eps=1e-3),
    'clip-64-257': towers('clip', (512, 8, 224, 14), (256, 4, 77), 24),
    'clip-80-odd': towers('clip', (320, 4, 111, 16), (192, 3, 33), 13),
    'siglip-64-196': towers('siglip', (512, 8, 224, 16), (384, 6, 64), 24),
    'siglip-72-odd': towers('siglip', (288, 4, 105, 15), (128, 2, 17), 11),
    'dinov3-128-gated': dino('dinov3_vit', 384, 3, 143, 5, use_gated_mlp=True,
                             hidden_act='silu', key_bias=True),
}

CASES = {
    'neox-64-257': gpt_neox(256, 4, 257, 3, use_parallel_residual=True),
    'neox-64-2049': gpt_neox(512, 8, 2049, 2, use_parallel_residual=True),
    'neox-80-1023-serial': gpt_neox(320, 4, 1023, 2,
                                    use_parallel_residual=False),
    'neox-128-2049': gpt_neox(512, 4, 2049, 1, use_parallel_residual=True),
    'neox-256-513-serial': gpt_neox(512, 2, 513, 2,
                                    use_parallel_residual=False),
    'neox-256-2049': gpt_neox(512, 2, 2049, 1, use_parallel_residual=True),
    'bert-64-128': bert('bert', 256, 4, 128, 5),
    'bert-80-333': bert('bert', 320, 4, 333, 3),
    'roberta-64-512': bert('roberta', 512, 8, 512, 4),
    'roberta-128-509': bert('roberta', 512, 4, 509, 2),
    'vit-64-197': vit(512, 8, 224, 8),
    'vit-80-50': vit(320, 4, 112, 9),
    'convnext-96': convnext([64, 128, 256, 512], [2, 2, 4, 2], 96, 5),
    'mamba-130': mamba(256, 130, 2),
    # Rows of the products that no vector of four floats divides.
    'mamba-narrow-200': mamba(256, 200, 2, state_size=5, conv_kernel=3),
    'mamba-tiny-200': mamba(24, 200, 2, state_size=5, conv_kernel=3),
    'mamba2-64-300': mamba2(8, 64, 300, 2),
    'mamba2-128-200': mamba2(8, 128, 200, 2, n_groups=4, state_size=40),
    'mamba2-narrow-130': mamba2(6, 12, 130, 3, n_groups=2, state_size=7,
                                conv_kernel=3, time_step_limit=[0.01, 0.05]),
    **LLAMA_CASES,
    **ENCODER_CASES,
    **EXPERT_CASES,
    **VISION_CASES,
}


def randomise(model):
    """Weights that make every term of a gradient visible: attention is far
    from uniform, norms and biases are far from 1 and 0.  Mamba's skip is near the
    1 that it begins with: near 0, a random model in forty has gradients that bf16
    is as far from as they are large."""
    for name, parameter in model.named_parameters():
        norm = 'norm' in name.lower()
        if parameter.dim() == 0:
            torch.nn.init.constant_(parameter, 2.0)
        elif parameter.dim() == 1:
            torch.nn.init.normal_(parameter,
                                  1.0 if norm and name.endswith('weight')
                                  or name.endswith(('lambda1', '.D'))
                                  else 0.0, 0.1)
        elif 'embed' in name and 'projection' not in name \
                and 'patch_embeddings.weight' not in name \
                and 'patch_embedding.' not in name \
                and 'decoder_embed.' not in name \
                and 'x_embedder' not in name and 't_embedder' not in name \
                and 'embed_out' not in name:
            torch.nn.init.normal_(parameter, 0.0, 0.5)
        else:
            # Of experts, those of all of them follow each other.
            fan_in = parameter.shape[-1] if 'experts' in name \
                else parameter[0].numel()
            torch.nn.init.normal_(parameter, 0.0, fan_in ** -0.5)


def make_batch(config, length, batch):
    if 'vision_config' in config:
        side, text = config['vision_config']['image_size'], config['text_config']
        return dict(pixel_values=torch.randn(batch, 3, side, side),
                    input_ids=torch.randint(
                        0, text['vocab_size'],
                        (batch, text['max_position_embeddings'])))
    if 'sample_size' in config:
        shape = batch, config['in_channels'], *[config['sample_size']] * 2
        return dict(pixel_values=torch.randn(shape), noise=torch.randn(shape),
                    labels=torch.randint(0, 1000, (batch,)),
                    timesteps=torch.randint(0, 1000, (batch,)))
    if length is None:
        side = config['image_size']
        if 'head_n_prototypes' in config:
            local = config['local_crops_size']
            result = dict(
                pixel_values=torch.randn(2 * batch, 3, side, side),
                local_pixel_values=torch.randn(
                    config['local_crops_number'] * batch, 3, local, local))
            if 'ibot_head_n_prototypes' in config:
                result['noise'] = torch.rand(
                    batch, (side // config['patch_size']) ** 2)
            return result
        pixels = torch.randn(batch, 3, side, side)
        if config['model_type'] == 'vit_mae':
            patches = (side // config['patch_size']) ** 2
            return dict(pixel_values=pixels, noise=torch.rand(batch, patches))
        return dict(pixel_values=pixels,
                    labels=torch.randint(0, 1003, (batch,)))
    vocab = config['vocab_size']
    # No padding tokens, which have positions of their own.
    ids = torch.randint(2, vocab, (batch, length))
    if config['model_type'] not in ('bert', 'roberta', 'modernbert', 'esm'):
        return dict(input_ids=ids, labels=ids.clone())
    result = dict(input_ids=ids, labels=torch.where(
        torch.rand(batch, length) < 0.15,
        torch.randint(2, vocab, (batch, length)), -100))
    if config.get('token_dropout'):
        result['input_ids'][result['labels'] != -100] = config['mask_token_id']
    if config.get('type_vocab_size', 1) > 1:
        result['token_type_ids'] = torch.randint(0, 2, (batch, length))
    return result


def torch_pass(model, batch, precision):
    """(loss, gradients), in `precision`."""
    kind = dict(fp16=torch.float16, bf16=torch.bfloat16).get(precision)
    torch.backends.cuda.matmul.allow_tf32 = precision == 'tf32'
    torch.backends.cudnn.allow_tf32 = precision == 'tf32'
    scale = 65536.0 if precision == 'fp16' else 1.0
    while True:
        model.zero_grad(set_to_none=True)
        with torch.autocast(next(model.parameters()).device.type, dtype=kind,
                            enabled=kind is not None):
            loss = model(**batch).loss
        (loss * scale).backward()
        gradients = common.stored(
            {name: parameter.grad.double() / scale
             for name, parameter in model.named_parameters()
             if parameter.grad is not None})
        if all(torch.isfinite(g).all() for g in gradients.values()):
            return loss.item(), gradients
        scale /= 2


def packed(got, name):
    """What is given expert by expert, as Transformers 5 has it in memory."""
    prefix, _, last = name.rpartition('.')
    old = prefix.replace('.mlp.', '.block_sparse_moe.')
    words = dict(gate_up_proj=(('gate_proj', 'up_proj'), ('w1', 'w3')),
                 down_proj=(('down_proj',), ('w2',)))
    if name in got or last not in words or not prefix.endswith('.experts'):
        return got[name]
    for stem, parts in zip((prefix, old), words[last]):
        experts = []
        while f'{stem}.{len(experts)}.{parts[0]}.weight' in got:
            experts.append(torch.cat([
                got[f'{stem}.{len(experts)}.{part}.weight']
                for part in parts]))
        if experts:
            return torch.stack(experts)
    raise KeyError(name)


def errors(got, reference):
    """(of all gradients, worst of one, its name)."""
    whole = math.sqrt(sum(g.square().sum().item()
                          for g in reference.values()))
    all_of_them, worst, name_of_worst = 0.0, 0.0, ''
    for name, wanted in reference.items():
        off = (packed(got, name).to(wanted).reshape(wanted.shape)
               - wanted).norm().item()
        all_of_them += off * off
        norm = wanted.norm().item()
        # A NaN has to show.
        if norm > SMALL * whole and not off / norm <= worst:
            worst, name_of_worst = off / norm, name
    return math.sqrt(all_of_them) / whole, worst, name_of_worst


def passes(precision, ours, theirs, draws):
    if precision == 'fp32':
        return ours < 1e-4
    if precision == 'tf32':
        return ours < 1e-3 or ours <= 1.25 * theirs
    return ours <= (1.3 if draws >= ENOUGH else 2) * theirs


def smooth(config):
    """Without ReLU: a unit of which the argument is 0 but for rounding has one
    gradient or the other, which in so small a model is a hundredth of all,
    of no precision's making.  compare-devices has ReLU."""
    return {key: 'gelu' if value == 'relu' else value
            for key, value in config.items()}


class Case:
    """A model in files."""

    def __init__(self, name, seed, folder):
        self.name, self.folder = f'{name}-{seed}', folder
        torch.manual_seed(sum(name.encode()) + 1000003 * seed)
        if name in CASES:
            self.config, length, batch = CASES[name]
            self.model = common.build(self.config).eval()
            randomise(self.model)
            self.batch = make_batch(self.config, length, batch)
        else:
            self.config = smooth(
                json.loads((GOLDEN / f'{name}.json').read_text()))
            self.model = common.build(self.config).eval()
            self.model.load_state_dict(
                load_file(GOLDEN / f'{name}.weights.safetensors'),
                strict=False)
            self.batch = load_file(GOLDEN / f'{name}.batch.safetensors')
        if hasattr(self.model.config, 'num_experts_per_tok'):
            # The others have no fp64.
            self.model.config._experts_implementation = 'eager'
        path = folder / self.name
        pathlib.Path(f'{path}.json').write_text(json.dumps(self.config))
        save_file(common.stored({key: value.detach().contiguous()
                                 for key, value
                                 in self.model.named_parameters()}),
                  f'{path}.weights.safetensors')
        save_file(self.batch, f'{path}.batch.safetensors')

    def ours(self, options, precision, settings):
        out = self.folder / f'{self.name}.{precision}.{settings}.safetensors'
        path = self.folder / self.name
        status, lines, message = common.bench(
            options.bench, 'check', '--config', f'{path}.json', '--weights',
            f'{path}.weights.safetensors', '--batch',
            f'{path}.batch.safetensors', '--precision', precision,
            '--device', options.device, '--settings', settings, '--out', out,
            '--json', *(['--architecture', options.architecture]
                        if options.architecture else []))
        if status == UNSUPPORTED:
            return None
        return out if status == 0 else f'exit status {status}: {message}'

    def theirs(self, device):
        """{precision: (loss, gradients)}, fp64 among them."""
        model = self.model.to(device)
        batch = {key: value.to(device) for key, value in self.batch.items()}
        result = {precision: torch_pass(model, batch, precision)
                  for precision in PRECISIONS}
        for name in batch:
            if 'pixel_values' in name:
                batch[name] = batch[name].double()
        result['fp64'] = torch_pass(model.double(), batch, 'fp64')
        self.model = None
        return result


def compare(case, theirs, futures, found):
    """Prints a line for each run, and adds (ours, PyTorch's) to what was found;
    returns how many failed, and how many are not supported."""
    loss, reference = theirs['fp64']
    device = next(iter(reference.values())).device
    failures = skipped = 0
    for precision in PRECISIONS:
        own = errors(theirs[precision][1], reference)
        own_loss = abs(theirs[precision][0] / loss - 1)
        for settings in SETTINGS:
            out = futures[precision, settings].result()
            head = f'{case.name:20} {precision:4} {settings:10}'
            if out is None:
                print(f'{head} not supported', flush=True)
                skipped += 1
                continue
            if isinstance(out, str):
                print(f'{head} FAILED {out}', flush=True)
                failures += 1
                continue
            tensors = load_file(out, device=str(device))
            out.unlink()
            got = errors({name.removeprefix('grad.'): tensor.double()
                          for name, tensor in tensors.items()
                          if name.startswith('grad.')}, reference)
            found.setdefault((precision, settings), []).append(
                (got[0], own[0]))
            loss_off = abs(tensors['loss'].item() / loss - 1)
            # A NaN is not near.
            near = loss_off <= max(LOSSES[precision], 2 * own_loss)
            failures += not near
            print(f'{head} {"" if near else "FAILED "}all {got[0]:.2e} '
                  f'(PyTorch {own[0]:.2e}, ratio {got[0] / own[0]:5.2f}) '
                  f'worst {got[1]:.2e} ({own[1]:.2e}) '
                  f'loss {loss_off:.1e} ({own_loss:.1e}) {got[2]}',
                  flush=True)
    return failures, skipped


def judge(name, found):
    """Holds the geometric means of the errors against each other; returns how
    many failed."""
    failures = 0
    for (precision, settings), pairs in found.items():
        ours, theirs = (math.exp(sum(math.log(max(error, 1e-30))
                                     for error in errors_of) / len(pairs))
                        if not any(map(math.isnan, errors_of)) else math.nan
                        for errors_of in zip(*pairs))
        good = passes(precision, ours, theirs, len(pairs))
        failures += not good
        print(f'{name:20} {precision:4} {settings:10} '
              f'{"ok    " if good else "FAILED"} {ours:.2e} '
              f'(PyTorch {theirs:.2e}, ratio {ours / theirs:5.2f}) of '
              f'{len(pairs)}', flush=True)
    return failures


def ahead(made, n):
    """What is made, of which n are ready before they are asked for."""
    ready = collections.deque()
    for one in made:
        ready.append(one)
        if len(ready) > n:
            yield ready.popleft()
    yield from ready


def begin(name, options, folder, pool):
    """(name, [(a model of that name, the runs of ours)])."""
    drawn = [Case(name, seed, folder)
             for seed in range(options.seeds if name in CASES else 1)]
    return name, [(case, {
        (precision, settings): pool.submit(case.ours, options, precision,
                                           settings)
        for precision in PRECISIONS for settings in SETTINGS})
        for case in drawn]


def main():
    parser = common.arguments(__doc__.splitlines()[0], jobs=8, only='', seeds=4,
                              architecture=0, torch_device='cuda:0')
    options = parser.parse_args()
    names = [name for name in [*CASES, *sorted(
        path.stem for path in GOLDEN.glob('*.json'))]
             if any(part in name for part in options.only.split(','))]
    failures = skipped = checks = 0
    once = {}
    with tempfile.TemporaryDirectory() as where, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = pathlib.Path(where)
        for name, drawn in ahead((begin(name, options, folder, pool)
                                  for name in names), AHEAD):
            found = {}
            for case, futures in drawn:
                failed, absent = compare(
                    case, case.theirs(options.torch_device), futures, found)
                failures += failed
                skipped += absent
                checks += len(futures)
                for path in folder.glob(f'{case.name}.*'):
                    path.unlink()
            failures += judge(name, found)
            checks += len(found)
            for kind, pairs in found.items():
                if len(pairs) < ENOUGH:
                    once.setdefault(kind, []).extend(pairs)
    if any(len(pairs) >= ENOUGH for pairs in once.values()):
        failures += judge('drawn once, all', once)
        checks += len(once)
    common.conclude(failures, checks, skipped)


main()
