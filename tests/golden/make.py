# SPDX-License-Identifier: Apache-2.0
"""Makes the golden files: loss and gradients of tiny random models.

Needs PyTorch and Transformers 5; runs on the CPU, in fp64, without dropout.
usage: make.py FOLDER [NAME...]

Writes for each model NAME.json, its config.json; NAME.weights.safetensors;
NAME.batch.safetensors; and NAME.golden.safetensors with `loss` and
`grad.PARAMETER`.  Writes training.safetensors with the losses of a few steps
from the weights of gpt-neox-parallel, by optimizer (PyTorch 2.9 has Muon).
Writes of some of DINO's pairs, from their weights and batch, NAME.depth.safetensors
with the same of a pass in which branches have some of the samples alone.
NAMEs: only these models, training, or depth.

Mamba computes parts of itself in fp32 whatever the weights are.
"""

import functools
import json
import math
import pathlib
import re
import sys
import types

import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BertConfig,
    BertForMaskedLM,
    CLIPConfig,
    CLIPModel,
    ConvNextConfig,
    ConvNextForImageClassification,
    Dinov2Config,
    Dinov2ForImageClassification,
    Dinov2Model,
    Dinov2WithRegistersConfig,
    Dinov2WithRegistersForImageClassification,
    Dinov2WithRegistersModel,
    DINOv3ViTConfig,
    DINOv3ViTModel,
    EsmConfig,
    EsmForMaskedLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    Mamba2Config,
    Mamba2ForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    ModernBertConfig,
    ModernBertForMaskedLM,
    Olmo2Config,
    Olmo2ForCausalLM,
    Olmo3Config,
    Olmo3ForCausalLM,
    OlmoeConfig,
    OlmoeForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3MoeConfig,
    Qwen3MoeForCausalLM,
    RobertaConfig,
    RobertaForMaskedLM,
    SiglipConfig,
    SiglipModel,
    SmolLM3Config,
    SmolLM3ForCausalLM,
    Starcoder2Config,
    Starcoder2ForCausalLM,
    ViTConfig,
    ViTForImageClassification,
    ViTMAEConfig,
    ViTMAEForPreTraining,
)
from transformers.models.vit_mae.modeling_vit_mae import (
    build_2d_sinusoidal_position_embedding,
)

FEW = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
           intermediate_size=10)
SIZES = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
             intermediate_size=40)


def gpt_neox(**changes):
    fields = dict(SIZES, vocab_size=67, max_position_embeddings=32,
                  hidden_act="gelu", rotary_pct=0.25, layer_norm_eps=1e-5)
    fields.update(changes)
    return GPTNeoXForCausalLM, GPTNeoXConfig, fields


def bert(**changes):
    fields = dict(SIZES, vocab_size=61, max_position_embeddings=20,
                  hidden_act="gelu", type_vocab_size=2, pad_token_id=0,
                  hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1)
    fields.update(changes)
    return BertForMaskedLM, BertConfig, fields


def roberta(**changes):
    _, _, fields = bert(type_vocab_size=1, pad_token_id=1,
                        max_position_embeddings=22, layer_norm_eps=1e-5)
    fields.update(changes)
    return RobertaForMaskedLM, RobertaConfig, fields


def vit(**changes):
    fields = dict(SIZES, image_size=14, patch_size=4, num_channels=3,
                  num_labels=11, hidden_act="gelu", qkv_bias=True,
                  layer_norm_eps=1e-12)
    fields.update(changes)
    return ViTForImageClassification, ViTConfig, fields


def convnext(**changes):
    # Of 22 pixels, the stem leaves two out, and the first halving a row.
    fields = dict(image_size=22, patch_size=4, num_channels=3, num_labels=11,
                  num_stages=3, hidden_sizes=[8, 12, 16], depths=[1, 2, 1],
                  hidden_act="gelu", layer_norm_eps=1e-12,
                  layer_scale_init_value=1e-6, drop_path_rate=0.1)
    fields.update(changes)
    return ConvNextForImageClassification, ConvNextConfig, fields


def mamba(**changes):
    fields = dict(vocab_size=67, hidden_size=24, num_hidden_layers=2,
                  state_size=4, conv_kernel=4, expand=2, time_step_rank=3,
                  layer_norm_epsilon=1e-5, use_bias=False, use_conv_bias=True,
                  tie_word_embeddings=True)
    fields.update(changes)
    return MambaForCausalLM, MambaConfig, fields


def mamba2(**changes):
    fields = dict(vocab_size=67, hidden_size=24, num_hidden_layers=2,
                  num_heads=6, head_dim=8, n_groups=2, state_size=5,
                  conv_kernel=4, expand=2, chunk_size=16,
                  layer_norm_epsilon=1e-5, use_bias=False, use_conv_bias=True,
                  tie_word_embeddings=True)
    fields.update(changes)
    return Mamba2ForCausalLM, Mamba2Config, fields


LLAMA_LIKE = {
    "llama": (LlamaForCausalLM, LlamaConfig),
    "mistral": (MistralForCausalLM, MistralConfig),
    "qwen2": (Qwen2ForCausalLM, Qwen2Config),
    "qwen3": (Qwen3ForCausalLM, Qwen3Config),
    "olmo2": (Olmo2ForCausalLM, Olmo2Config),
    "olmo3": (Olmo3ForCausalLM, Olmo3Config),
    "smollm3": (SmolLM3ForCausalLM, SmolLM3Config),
    "gemma3": (Gemma3ForCausalLM, Gemma3TextConfig),
    "olmoe": (OlmoeForCausalLM, OlmoeConfig),
    "qwen3-moe": (Qwen3MoeForCausalLM, Qwen3MoeConfig),
    "mixtral": (MixtralForCausalLM, MixtralConfig),
    "starcoder2": (Starcoder2ForCausalLM, Starcoder2Config),
}


def llama_like(kind, heads, key_heads, **changes):
    """Where a token is padded with, its embedding has no gradient."""
    fields = dict(vocab_size=29, hidden_size=12, num_hidden_layers=2,
                  num_attention_heads=heads, num_key_value_heads=key_heads,
                  intermediate_size=16, max_position_embeddings=64,
                  pad_token_id=None, bos_token_id=1, eos_token_id=2)
    fields.update(changes)
    return (*LLAMA_LIKE[kind], fields)


def gpt2(**changes):
    fields = dict(vocab_size=31, n_embd=12, n_layer=2, n_head=3,
                  n_positions=32, bos_token_id=1, eos_token_id=2)
    fields.update(changes)
    return GPT2LMHeadModel, GPT2Config, fields


def modernbert(**changes):
    fields = dict(vocab_size=31, hidden_size=12, num_hidden_layers=4,
                  num_attention_heads=3, intermediate_size=10,
                  max_position_embeddings=64, pad_token_id=5, bos_token_id=1,
                  eos_token_id=2, cls_token_id=1, sep_token_id=2)
    fields.update(changes)
    return ModernBertForMaskedLM, ModernBertConfig, fields


def esm(**changes):
    fields = dict(vocab_size=23, hidden_size=12, num_hidden_layers=2,
                  num_attention_heads=3, intermediate_size=20,
                  max_position_embeddings=40, mask_token_id=7, pad_token_id=1,
                  position_embedding_type="rotary", hidden_dropout_prob=0.1,
                  attention_probs_dropout_prob=0.1)
    fields.update(changes)
    return EsmForMaskedLM, EsmConfig, fields


def dinov2(**changes):
    fields = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
                  image_size=15, patch_size=4, num_channels=3, num_labels=11,
                  mlp_ratio=2, layer_norm_eps=1e-6, drop_path_rate=0.1)
    fields.update(changes)
    if "num_register_tokens" in fields:
        return (Dinov2WithRegistersForImageClassification,
                Dinov2WithRegistersConfig, fields)
    return Dinov2ForImageClassification, Dinov2Config, fields


class DINOv3WithHead(torch.nn.Module):
    """Transformers has no class of it with a head."""

    def __init__(self, config):
        super().__init__()
        self.backbone = DINOv3ViTModel(config)
        self.classifier = torch.nn.Linear(config.hidden_size,
                                          config.num_labels)

    def forward(self, pixel_values, labels):
        pooled = self.backbone(pixel_values).pooler_output
        return types.SimpleNamespace(loss=torch.nn.functional.cross_entropy(
            self.classifier(pooled), labels))


def dinov3(**changes):
    fields = dict(SIZES, image_size=14, patch_size=4, num_channels=3,
                  num_labels=11)
    fields.update(changes)
    return DINOv3WithHead, DINOv3ViTConfig, fields


class DinoHead(torch.nn.Module):
    """As facebookresearch/dinov2 has it, dinov2/layers/dino_head.py, with gains
    of 1 that stay so."""

    def __init__(self, config, bottleneck, prototypes):
        super().__init__()
        sizes = ([config.hidden_size]
                 + (config.head_nlayers - 1) * [config.head_hidden_dim]
                 + [bottleneck])
        layers = []
        for i in range(config.head_nlayers):
            layers += [torch.nn.Linear(sizes[i], sizes[i + 1]), torch.nn.GELU()]
        self.mlp = torch.nn.Sequential(*layers[:-1])
        self.last_layer = torch.nn.Module()
        self.last_layer.weight_v = torch.nn.Parameter(
            torch.empty(prototypes, bottleneck))

    def forward(self, x):
        normalize = torch.nn.functional.normalize
        return (normalize(self.mlp(x), dim=-1)
                @ normalize(self.last_layer.weight_v, dim=-1).T)


def shares(cosines, temperature, rounds=3):
    """sinkhorn_knopp_teacher() of dinov2/loss/dino_clstoken_loss.py."""
    q = torch.exp(cosines / temperature).t()
    k, b = q.shape
    q = q / q.sum()
    for _ in range(rounds):
        q = q / q.sum(dim=1, keepdim=True) / k
        q = q / q.sum(dim=0, keepdim=True) / b
    return (q * b).t()


def koleo(x):
    """dinov2/loss/koleo_loss.py."""
    x = torch.nn.functional.normalize(x, eps=1e-8, dim=-1)
    with torch.no_grad():
        dots = x @ x.T
        nearest = dots.fill_diagonal_(-1).argmax(dim=1)
    distances = torch.nn.PairwiseDistance(2, eps=1e-8)(x, x[nearest])
    return -torch.log(distances + 1e-8).mean()


class DinoPair(torch.nn.Module):
    """A student, and a teacher with the same weights, as a training begins,
    unless another is told_by;
    the losses of dinov2/train/ssl_meta_arch.py.  Crops are beside each other by
    images, not images by crops; of the first of an image, the patches with the
    least noise are hidden."""

    def __init__(self, config, name, model_class):
        super().__init__()
        self.config, self.name = config, name
        setattr(self, name, model_class(config))
        self.told_by = [self]
        self.dino_head = DinoHead(config, config.head_bottleneck_dim,
                                  config.head_n_prototypes)
        self.patches = getattr(config, "ibot_head_n_prototypes", 0) > 0
        if self.patches:
            self.ibot_head = DinoHead(config, config.ibot_head_bottleneck_dim,
                                      config.ibot_head_n_prototypes)

    def tokens(self, pixels, mask=None):
        return getattr(self, self.name)(
            pixels, bool_masked_pos=mask).last_hidden_state

    def cosines(self, tokens, crops):
        return self.dino_head(tokens[:, 0]).unflatten(0, (-1, crops))

    def hidden(self, tokens, mask):
        before = 1 + getattr(self.config, "num_register_tokens", 0)
        return self.ibot_head(tokens[:, before:][mask])

    def mask(self, noise):
        """Of both crops; the second has none."""
        n = max(1, int(self.config.mask_ratio * noise.shape[1] + 0.5))
        mask = torch.zeros(len(noise), 2, noise.shape[1], dtype=torch.bool,
                           device=noise.device)
        for b, order in enumerate(noise.argsort(dim=1)):
            mask[b, 0, order[:n]] = True
        return n, mask.flatten(0, 1)

    def forward(self, pixel_values, local_pixel_values, noise=None):
        n, temperature = self.config.local_crops_number, self.config.teacher_temp
        masked, mask = self.mask(noise) if self.patches else (0, None)
        teacher, = self.told_by
        with torch.no_grad():
            tokens = teacher.tokens(pixel_values)
            told = shares(teacher.cosines(tokens, 2).flatten(0, 1),
                          temperature).unflatten(0, (-1, 2))
            if self.patches:
                patches = shares(teacher.hidden(tokens, mask), temperature)
        tokens = self.tokens(pixel_values, mask)
        seen = torch.cat((
            self.cosines(tokens, 2),
            self.cosines(self.tokens(local_pixel_values), n)), dim=1)
        log = torch.log_softmax(seen / 0.1, dim=-1)
        loss = sum(-(told[:, t] * log[:, s]).sum(-1).mean()
                   for t in range(2) for s in range(2 + n) if s != t)
        loss = loss / (2 * (1 + n))
        if self.patches:
            log = torch.log_softmax(self.hidden(tokens, mask) / 0.1, dim=-1)
            loss = loss - (patches * log).sum() / (masked * len(mask))
        weight = getattr(self.config, "koleo_loss_weight", 0)
        if weight > 0:
            loss = loss + weight * sum(koleo(tokens[i::2, 0]) for i in range(2))
        return types.SimpleNamespace(loss=loss)


def philox(key, counter, rounds=7):
    """Salmon et al. 2011, Philox 4x32."""
    c, low = list(counter), (1 << 32) - 1
    for i in range(rounds):
        keys = [(k + i * by) & low for k, by in zip(key, (0x9E3779B9, 0xBB67AE85))]
        products = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [products[1] >> 32 ^ c[1] ^ keys[0], products[1] & low,
             products[0] >> 32 ^ c[3] ^ keys[1], products[0] & low]
    return c


def chosen(branches, samples, share, site):
    """Of each branch, the samples with the least noise of seed 1, in pass 0, as
    kernels/random.h draws it; their number is that of dinov2/layers/block.py."""
    noise = torch.tensor([[philox((1, 0), (n // 4, b, site, 0))[n % 4]
                           for n in range(samples)] for b in range(branches)])
    some = max(int(samples * (1 - share)), 1)
    return noise.argsort(dim=1, stable=True)[:, :some]


def of_some(layer, kept, x, *_, **__):
    """drop_add_residual_stochastic_depth() of dinov2/layers/block.py, twice."""
    for i, (norm, branch, scale) in enumerate((
            (layer.norm1, layer.attention, layer.layer_scale1),
            (layer.norm2, layer.mlp, layer.layer_scale2))):
        y = branch(norm(x[kept[i]]))
        y = scale(y[0] if isinstance(y, tuple) else y)
        x = x.index_add(0, kept[i], y, alpha=len(x) / len(kept[i]))
    return x


class DinoPairOfSome(DinoPair):
    """One whose student has branches of some of the samples, in training."""

    # drop_path_rate, by the name of the model.
    RATES = {"dinov2-pair": 0.3, "dinov2-pair-registers": 0.4}

    def tokens(self, pixels, mask=None):
        layers = getattr(self, self.name).encoder.layer
        if torch.is_grad_enabled():
            self.lists += 1
            kept = chosen(2 * len(layers), len(pixels), self.rate, self.lists)
            for i, layer in enumerate(layers):
                layer.forward = functools.partial(
                    of_some, layer, kept[2 * i:2 * i + 2])
        result = super().tokens(pixels, mask)
        for layer in layers:
            vars(layer).pop("forward", None)
        return result


def dino_pair(kind, **changes):
    classes = dict(
        dinov2=(Dinov2Model, Dinov2Config, "dinov2"),
        dinov2_with_registers=(Dinov2WithRegistersModel,
                               Dinov2WithRegistersConfig,
                               "dinov2_with_registers"),
        dinov3_vit=(DINOv3ViTModel, DINOv3ViTConfig, "backbone"))
    model_class, config_class, name = classes[kind]
    fields = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
                  image_size=15, patch_size=4, num_channels=3,
                  layer_norm_eps=1e-6, head_n_prototypes=37,
                  head_hidden_dim=20, head_bottleneck_dim=12, head_nlayers=3,
                  local_crops_number=3, local_crops_size=9, teacher_temp=0.1)
    fields.update(changes)
    return (lambda config: DinoPair(config, name, model_class), config_class,
            fields)


def vit_mae(**changes):
    fields = dict(SIZES, image_size=12, patch_size=4, num_channels=3,
                  decoder_hidden_size=16, decoder_num_hidden_layers=1,
                  decoder_num_attention_heads=2, decoder_intermediate_size=28)
    fields.update(changes)
    return ViTMAEForPreTraining, ViTMAEConfig, fields


def towers(model_class, config_class, vision, text, **changes):
    sizes = dict(num_hidden_layers=2, layer_norm_eps=1e-5)
    vision = dict(sizes, hidden_size=24, num_attention_heads=3,
                  intermediate_size=40, image_size=12, patch_size=4, **vision)
    text = dict(dict(sizes, hidden_size=20, num_attention_heads=2,
                     intermediate_size=30, vocab_size=67,
                     max_position_embeddings=11), **text)
    return (model_class, config_class,
            dict(changes, vision_config=vision, text_config=text))


def clip(vision=None, text=None, **changes):
    return towers(CLIPModel, CLIPConfig, vision or {}, text or {},
                  **dict(dict(projection_dim=14), **changes))


def siglip(vision=None, text=None, **changes):
    return towers(SiglipModel, SiglipConfig, vision or {}, text or {},
                  **changes)


class DitConfig(types.SimpleNamespace):
    """Of diffusers' classes, which have no model_type."""

    def __init__(self, attn_implementation=None, **fields):
        defaults = dict(out_channels=None, class_dropout_prob=0.1,
                        norm_eps=1e-5, activation_fn="gelu-approximate",
                        attention_bias=True)
        super().__init__(**dict(defaults, **fields))


def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class DitBlock(torch.nn.Module):
    """facebookresearch/DiT's, with the biases, activation and epsilon that
    diffusers' may have."""

    def __init__(self, config, hidden):
        super().__init__()
        self.config = config
        self.attn = torch.nn.Module()
        self.attn.qkv = torch.nn.Linear(hidden, 3 * hidden,
                                        bias=config.attention_bias)
        self.attn.proj = torch.nn.Linear(hidden, hidden)
        self.mlp = torch.nn.Module()
        self.mlp.fc1 = torch.nn.Linear(hidden, 4 * hidden)
        self.mlp.fc2 = torch.nn.Linear(4 * hidden, hidden)
        self.adaLN_modulation = torch.nn.Sequential(
            torch.nn.SiLU(), torch.nn.Linear(hidden, 6 * hidden))

    def attend(self, x):
        batch, tokens, hidden = x.shape
        q, k, v = self.attn.qkv(x).reshape(
            batch, tokens, 3, self.config.num_attention_heads,
            -1).permute(2, 0, 3, 1, 4)
        shares = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).softmax(-1)
        return self.attn.proj((shares @ v).transpose(1, 2).reshape(x.shape))

    def forward(self, x, c):
        norm = torch.nn.functional.layer_norm
        approximate = ("tanh" if self.config.activation_fn == "gelu-approximate"
                       else "none")
        parts = self.adaLN_modulation(c).chunk(6, dim=1)
        y = norm(x, x.shape[-1:], eps=1e-6)
        x = x + parts[2].unsqueeze(1) * self.attend(modulate(y, *parts[:2]))
        y = norm(x, x.shape[-1:], eps=self.config.norm_eps)
        y = torch.nn.functional.gelu(self.mlp.fc1(modulate(y, *parts[3:5])),
                                     approximate=approximate)
        return x + parts[5].unsqueeze(1) * self.mlp.fc2(y)


class Dit(torch.nn.Module):
    """facebookresearch/DiT (models.py), and its loss: gaussian_diffusion.py of
    the same, with a linear schedule, MSE and, where there are as many channels
    of them, variances of LEARNED_RANGE."""

    TIMES = 1000

    def __init__(self, config):
        super().__init__()
        self.config = config
        hidden = config.num_attention_heads * config.attention_head_dim
        side, channels = config.patch_size, config.in_channels
        out = config.out_channels or channels
        self.x_embedder = torch.nn.Module()
        self.x_embedder.proj = torch.nn.Conv2d(channels, hidden, side, side)
        self.t_embedder = torch.nn.Module()
        self.t_embedder.mlp = torch.nn.Sequential(
            torch.nn.Linear(256, hidden), torch.nn.SiLU(),
            torch.nn.Linear(hidden, hidden))
        self.y_embedder = torch.nn.Module()
        self.y_embedder.embedding_table = torch.nn.Embedding(
            config.num_embeds_ada_norm + (config.class_dropout_prob > 0), hidden)
        self.pos_embed = torch.nn.Parameter(
            torch.zeros(1, (config.sample_size // side) ** 2, hidden),
            requires_grad=False)
        self.blocks = torch.nn.ModuleList(
            DitBlock(config, hidden) for _ in range(config.num_layers))
        self.final_layer = torch.nn.Module()
        self.final_layer.linear = torch.nn.Linear(hidden, side * side * out)
        self.final_layer.adaLN_modulation = torch.nn.Sequential(
            torch.nn.SiLU(), torch.nn.Linear(hidden, 2 * hidden))

    def place(self, parameter):
        """get_2d_sincos_pos_embed(), columns before rows."""
        hidden = parameter.shape[2]
        side = int(parameter.shape[1] ** 0.5)
        waves = 10000.0 ** -(torch.arange(hidden // 4, dtype=torch.float64)
                             / (hidden / 4))
        rows, columns = torch.meshgrid(torch.arange(side), torch.arange(side),
                                       indexing="ij")
        parts = []
        for place in (columns, rows):
            angles = place.reshape(-1, 1) * waves
            parts += [angles.sin(), angles.cos()]
        parameter.data[0] = torch.cat(parts, dim=1)

    def tell(self, x, t, y):
        waves = 10000.0 ** -(torch.arange(128, dtype=x.dtype, device=x.device)
                             / 128)
        angles = t[:, None].to(x.dtype) * waves
        c = (self.t_embedder.mlp(torch.cat((angles.cos(), angles.sin()), dim=1))
             + self.y_embedder.embedding_table(y))
        x = self.x_embedder.proj(x).flatten(2).transpose(1, 2) + self.pos_embed
        for block in self.blocks:
            x = block(x, c)
        parts = self.final_layer.adaLN_modulation(c).chunk(2, dim=1)
        x = torch.nn.functional.layer_norm(x, x.shape[-1:], eps=1e-6)
        x = self.final_layer.linear(modulate(x, *parts))
        side = self.config.patch_size
        across = self.config.sample_size // side
        x = x.reshape(len(x), across, across, side, side, -1)
        return torch.einsum("nhwpqc->nchpwq", x).reshape(
            len(x), -1, across * side, across * side)

    def variational_bound(self, start, noisy, t, told, values):
        betas = torch.linspace(1e-4, 0.02, self.TIMES, dtype=torch.float64,
                               device=t.device)
        kept = (1 - betas).cumprod(0)
        before = torch.cat((torch.ones_like(kept[:1]), kept[:-1]))
        variance = betas * (1 - before) / (1 - kept)
        least = torch.cat((variance[1:2], variance[1:])).log()

        def at(table):
            return table[t][:, None, None, None]

        def mean_of(image):
            return (at(betas * before.sqrt() / (1 - kept)) * image
                    + at((1 - before) * (1 - betas).sqrt() / (1 - kept)) * noisy)

        share = (values + 1) / 2
        logarithm = share * at(betas.log()) + (1 - share) * at(least)
        mean = mean_of(at((1 / kept).sqrt()) * noisy
                       - at((1 / kept - 1).sqrt()) * told)
        away = mean_of(start) - mean
        divergence = 0.5 * (-1 + logarithm - at(least)
                            + (at(least) - logarithm).exp()
                            + away ** 2 * (-logarithm).exp())

        def below(x):
            return 0.5 * (1 + torch.tanh(
                (2 / torch.pi) ** 0.5 * (x + 0.044715 * x ** 3)))

        narrow = (-0.5 * logarithm).exp()
        above = below(narrow * (start - mean + 1 / 255))
        under = below(narrow * (start - mean - 1 / 255))
        surprise = -torch.where(
            start < -0.999, above.clamp(min=1e-12).log(), torch.where(
                start > 0.999, (1 - under).clamp(min=1e-12).log(),
                (above - under).clamp(min=1e-12).log()))
        terms = torch.where(t[:, None, None, None] == 0, surprise, divergence)
        return terms.flatten(1).mean(1) / math.log(2)

    def forward(self, pixel_values, labels, timesteps, noise):
        kept = (1 - torch.linspace(1e-4, 0.02, self.TIMES,
                                   dtype=torch.float64,
                                   device=timesteps.device)).cumprod(0)
        kept = kept[timesteps][:, None, None, None]
        noisy = kept.sqrt() * pixel_values + (1 - kept).sqrt() * noise
        told = self.tell(noisy.to(pixel_values.dtype), timesteps, labels)
        bound = 0
        if told.shape[1] == 2 * noise.shape[1]:
            told, values = told.chunk(2, dim=1)
            bound = self.variational_bound(pixel_values, noisy, timesteps,
                                           told.detach(), values)
        loss = ((noise - told) ** 2).flatten(1).mean(1) + bound
        return types.SimpleNamespace(loss=loss.mean())


def dit(**changes):
    fields = dict(_class_name="DiTTransformer2DModel", num_layers=2,
                  num_attention_heads=3, attention_head_dim=8, sample_size=8,
                  patch_size=2, in_channels=4, out_channels=8,
                  num_embeds_ada_norm=11)
    fields.update(changes)
    return Dit, DitConfig, fields


# Whose positions are not in the file, but those of the paper, which a new model
# of Transformers 5.23 does not have.
PLACED = ("vit-mae", "vit-mae-half", "dit", "dit-plain")
# Whose decoder's layers have the names that Transformers 5.23 writes.
WRITTEN = ("vit-mae-normed",)


def place(parameter):
    """Columns before rows, as the authors of MAE have it."""
    side = int((parameter.shape[1] - 1) ** 0.5)
    table = build_2d_sinusoidal_position_embedding(
        height=side, width=side, embed_dim=parameter.shape[2], cls_token=True)
    parameter.data[0] = torch.cat(table.chunk(2, dim=1)[::-1], dim=1)


def written(key):
    for ours, theirs in ((".q_proj", ".attention.query"),
                         (".k_proj", ".attention.key"),
                         (".v_proj", ".attention.value"),
                         (".o_proj", ".output.dense"),
                         (".mlp.fc1", ".intermediate.dense"),
                         (".mlp.fc2", ".output.dense"),
                         (".layers.", ".encoder.layer."),
                         (".decoder_layers.", ".decoder_encoder.layer.")):
        key = key.replace(ours, theirs)
    return key


def stored(name, tensors):
    """Under the names that files on the hub have, where ours are not those of
    version 5: of DINOv2's gates, which save_pretrained() joins again, and of
    DINOv3's layers."""
    result = {}
    for key, tensor in tensors.items():
        if ".mlp.up_proj." in key and "dinov2" in key:
            continue
        if ".mlp.gate_proj." in key and "dinov2" in key:
            tensor = torch.cat((tensor, tensors[key.replace("gate", "up")]))
            key = key.replace("gate_proj", "weights_in")
        if tensor.numel() == 0:
            continue  # no registers
        if name.startswith("dino"):
            for prefix in ("backbone.model.", "backbone."):
                key = key.replace(prefix, "")
        result[key] = tensor
    return result


# Of cosines, so that losses are neither those of chance nor nothing.
LOGITS = {"logit_scale": 1.3, "logit_bias": -0.7}

PIXELS = {"pixel_values", "local_pixel_values"}

MASKED = (BertForMaskedLM, RobertaForMaskedLM, ModernBertForMaskedLM,
          EsmForMaskedLM)

# Of models of text that are not 19 tokens long; no part of the configuration.
LENGTHS = {"llama-linear": 129, "mistral": 17, "qwen2-yarn": 129,
           "qwen3": 17, "olmo3": 17, "gemma3": 17, "modernbert": 17,
           "modernbert-long": 129, "esm": 17, "olmoe": 17, "mixtral": 21,
           "qwen3-moe": 23, "starcoder2": 17, "starcoder2-yarn": 129}

# What is written as Transformers 5 has it in memory, not as the hub has it.
PACKED = ("olmoe-packed",)
# Whose experts with this number are the mean of the others, and never the first.
UNUSED = {"qwen3-moe": 5}

MODELS = {
    "llama": llama_like(
        "llama", 4, 1, head_dim=6, attention_bias=True, mlp_bias=True,
        tie_word_embeddings=True, rope_theta=300.0, rope_scaling=dict(
            rope_type="llama3", factor=4.0, low_freq_factor=1.0,
            high_freq_factor=4.0, original_max_position_embeddings=32)),
    "llama-linear": llama_like(
        "llama", 3, 3, pad_token_id=7, hidden_act="gelu", rope_parameters=dict(
            rope_type="linear", rope_theta=500.0, factor=2.0)),
    "mistral": llama_like("mistral", 4, 2, head_dim=4, sliding_window=6,
                          rms_norm_eps=1e-5),
    "mistral-wide": llama_like("mistral", 4, 4, head_dim=6,
                               sliding_window=50, tie_word_embeddings=True),
    "qwen2": llama_like("qwen2", 2, 2, use_sliding_window=False,
                        sliding_window=5, max_window_layers=1),
    "qwen2-yarn": llama_like(
        "qwen2", 6, 3, use_sliding_window=True, sliding_window=40,
        max_window_layers=1, rope_parameters=dict(
            rope_type="yarn", rope_theta=100.0, factor=2.0,
            original_max_position_embeddings=64, truncate=False)),
    "qwen3": llama_like("qwen3", 7, 7, head_dim=4,
                        attention_bias=True, tie_word_embeddings=True),
    "qwen3-grouped": llama_like(
        "qwen3", 6, 3, head_dim=6, use_sliding_window=True,
        sliding_window=9, layer_types=["sliding_attention", "full_attention"]),
    "olmo2": llama_like("olmo2", 5, 1, hidden_size=20, rms_norm_eps=1e-6),
    "olmo3": llama_like(
        "olmo3", 6, 2, hidden_size=24, num_hidden_layers=3,
        sliding_window=5, attention_bias=True, pad_token_id=1,
        layer_types=["sliding_attention", "full_attention",
                     "sliding_attention"],
        rope_scaling=dict(rope_type="yarn", factor=8.0, beta_fast=2.0,
                          beta_slow=0.5, attention_factor=1.3,
                          original_max_position_embeddings=8)),
    "smollm3": llama_like(
        "smollm3", 4, 2, hidden_size=16, num_hidden_layers=3,
        no_rope_layers=[1, 0, 1], use_sliding_window=True, sliding_window=7,
        attention_bias=True, mlp_bias=True),
    "gemma3": llama_like(
        "gemma3", 4, 2, head_dim=6, query_pre_attn_scalar=11,
        sliding_window=6, layer_types=["sliding_attention", "full_attention"],
        pad_token_id=3, rope_theta=1000.0, rope_local_base_freq=50.0,
        rope_scaling=dict(rope_type="linear", factor=8.0)),
    # Logits that its last step keeps well below what they are.
    "gemma3-capped": llama_like(
        "gemma3", 2, 1, hidden_size=8, intermediate_size=10, vocab_size=13,
        head_dim=6, sliding_window=6, attention_bias=True,
        tie_word_embeddings=False, final_logit_softcapping=0.75),
    # Experts that are chosen by few tokens, or by none.
    "olmoe": llama_like(
        "olmoe", 3, 3, num_experts=4, num_experts_per_tok=2,
        intermediate_size=10, output_router_logits=True,
        router_aux_loss_coef=0.5),
    "olmoe-packed": llama_like(
        "olmoe", 4, 2, hidden_size=16, num_experts=5, num_experts_per_tok=3,
        num_hidden_layers=1, intermediate_size=7, norm_topk_prob=True,
        attention_bias=True, pad_token_id=1),
    "qwen3-moe": llama_like(
        "qwen3-moe", 4, 2, head_dim=6, num_hidden_layers=3, num_experts=8,
        num_experts_per_tok=1, moe_intermediate_size=6, mlp_only_layers=[1],
        output_router_logits=True, router_aux_loss_coef=0.3,
        norm_topk_prob=False, use_sliding_window=True, sliding_window=9),
    "qwen3-moe-sparse": llama_like(
        "qwen3-moe", 2, 1, head_dim=4, num_experts=7, num_experts_per_tok=3,
        moe_intermediate_size=5, decoder_sparse_step=2, norm_topk_prob=True),
    "mixtral": llama_like(
        "mixtral", 4, 2, head_dim=4, num_local_experts=4,
        num_experts_per_tok=2, output_router_logits=True, sliding_window=6,
        router_aux_loss_coef=0.2),
    "mixtral-wide": llama_like(
        "mixtral", 3, 3, num_hidden_layers=1, num_local_experts=9,
        num_experts_per_tok=4, tie_word_embeddings=True),
    "gpt2": gpt2(),
    "gpt2-relu2": gpt2(activation_function="relu2"),
    "gpt2-scaled": gpt2(n_inner=20, activation_function="relu",
                        scale_attn_by_inverse_layer_idx=True,
                        tie_word_embeddings=False, layer_norm_epsilon=1e-6),
    "starcoder2": llama_like(
        "starcoder2", 3, 1, sliding_window=6, rope_theta=1000.0,
        attention_dropout=0.1, embedding_dropout=0.1, residual_dropout=0.1),
    # A window that is wider than the text.
    "starcoder2-wide": llama_like(
        "starcoder2", 2, 2, sliding_window=40, use_bias=False,
        tie_word_embeddings=False, hidden_act="gelu", norm_epsilon=1e-4,
        pad_token_id=3, rope_scaling=dict(rope_type="linear", factor=2.0)),
    "starcoder2-yarn": llama_like(
        "starcoder2", 6, 2, hidden_size=24, num_hidden_layers=1,
        rope_parameters=dict(
            rope_type="yarn", rope_theta=100.0, factor=2.0,
            original_max_position_embeddings=64)),
    "modernbert": modernbert(local_attention=7, global_rope_theta=1000.0,
                             local_rope_theta=50.0),
    "modernbert-long": modernbert(
        num_hidden_layers=3, local_attention=20, norm_bias=True,
        attention_bias=True, mlp_bias=True, classifier_bias=True,
        decoder_bias=False, tie_word_embeddings=False, norm_eps=1e-4,
        hidden_activation="silu", classifier_activation="relu",
        pad_token_id=None, layer_types=[
            "sliding_attention", "full_attention", "sliding_attention"],
        rope_parameters=dict(
            full_attention=dict(rope_type="linear", rope_theta=300.0,
                                factor=2.0),
            sliding_attention=dict(rope_type="default", rope_theta=40.0))),
    # A window that is wider than the text.
    "modernbert-wide": modernbert(
        num_hidden_layers=3, num_attention_heads=1, local_attention=40,
        global_attn_every_n_layers=2, hidden_activation="gelu_pytorch_tanh"),
    "esm": esm(token_dropout=True, emb_layer_norm_before=False,
               layer_norm_eps=1e-5),
    "esm-normed": esm(emb_layer_norm_before=True, num_attention_heads=2,
                      rope_theta=200.0, tie_word_embeddings=False),
    "gpt-neox-parallel": gpt_neox(use_parallel_residual=True),
    "gpt-neox-sequential": gpt_neox(
        use_parallel_residual=False, hidden_act="gelu_new", rotary_pct=0.5,
        attention_bias=False, tie_word_embeddings=True),
    "bert": bert(),
    "roberta": roberta(),
    "vit": vit(),
    "convnext": convnext(),
    "dinov2": dinov2(),
    # Of 80 hidden features two thirds are 53, and rounded up 56.
    "dinov2-gated": dinov2(hidden_size=20, num_attention_heads=2, mlp_ratio=4,
                           use_swiglu_ffn=True, qkv_bias=False, image_size=9,
                           patch_size=3, use_mask_token=False),
    "dinov2-registers": dinov2(num_register_tokens=3, hidden_act="relu",
                               layer_norm_eps=1e-4, image_size=12),
    "dinov3": dinov3(num_register_tokens=4, pos_embed_rescale=2.0),
    "dinov3-gated": dinov3(
        num_attention_heads=2, use_gated_mlp=True, hidden_act="silu",
        query_bias=False, proj_bias=False, mlp_bias=False, rope_theta=50.0,
        image_size=23, patch_size=5, pos_embed_rescale=None),
    "dinov2-pair": dino_pair("dinov2", mlp_ratio=2, drop_path_rate=0.3),
    # All that DINOv2 has.
    "dinov2-pair-hidden": dino_pair(
        "dinov2", mlp_ratio=2, use_swiglu_ffn=True, koleo_loss_weight=0.1,
        ibot_head_n_prototypes=23, ibot_head_bottleneck_dim=10,
        mask_ratio=0.4, image_size=16, use_mask_token=True),
    # A third of the patches a side, and a layer less.
    "dinov2-pair-registers": dino_pair(
        "dinov2_with_registers", mlp_ratio=2, num_register_tokens=2,
        use_swiglu_ffn=True, local_crops_number=1, image_size=24,
        head_nlayers=2, teacher_temp=0.04),
    "dinov3-pair": dino_pair(
        "dinov3_vit", intermediate_size=40, num_register_tokens=2,
        pos_embed_rescale=2.0, local_crops_number=2, local_crops_size=8,
        head_nlayers=4, ibot_head_n_prototypes=41,
        ibot_head_bottleneck_dim=16, mask_ratio=0.01),
    "vit-mae": vit_mae(),
    "vit-mae-half": vit_mae(mask_ratio=0.5, norm_pix_loss=True, qkv_bias=False,
                            image_size=15, patch_size=3, num_channels=2,
                            hidden_act="relu"),
    "vit-mae-normed": vit_mae(norm_pix_loss=True, mask_ratio=0.6,
                              decoder_num_hidden_layers=3,
                              num_hidden_layers=1, layer_norm_eps=1e-6,
                              image_size=14, patch_size=2),
    "dit": dit(),
    # Noise alone, and no class that stands for none.
    "dit-plain": dit(out_channels=None, in_channels=3, patch_size=3,
                     sample_size=12, num_attention_heads=2,
                     attention_head_dim=10, activation_fn="gelu",
                     attention_bias=False, class_dropout_prob=0.0,
                     norm_eps=1e-3),
    # As older files have it, with positions of its own; 25 tokens, 5 heads.
    "dit-older": dit(_class_name="Transformer2DModel",
                     _diffusers_version="0.12.0", norm_type="ada_norm_zero",
                     norm_elementwise_affine=False, norm_num_groups=32,
                     activation_fn="gelu-approximate", attention_bias=True,
                     cross_attention_dim=None, only_cross_attention=False,
                     num_layers=1, num_attention_heads=5, attention_head_dim=4,
                     sample_size=5, patch_size=1, in_channels=2,
                     out_channels=4),
    "clip": clip(text=dict(eos_token_id=5), logit_scale_init_value=0.7),
    # As older files have it: the largest token stands for a text.
    "clip-older": clip(vision=dict(hidden_act="gelu", num_channels=2),
                       text=dict(eos_token_id=2, hidden_act="relu",
                                 max_position_embeddings=17),
                       projection_dim=7, logit_scale_init_value=0.5),
    "siglip": siglip(text=dict(projection_size=24)),
    "siglip-alike": siglip(vision=dict(hidden_act="gelu", num_channels=1),
                           text=dict(hidden_size=24, hidden_act="quick_gelu",
                                     num_attention_heads=4,
                                     max_position_embeddings=16)),
    "mamba": mamba(),
    "mamba-biased": mamba(use_bias=True, use_conv_bias=False, conv_kernel=3,
                          tie_word_embeddings=False),
    "mamba2": mamba2(),
    # Both limits keep some of the steps.
    "mamba2-limited": mamba2(use_bias=True, use_conv_bias=False, conv_kernel=3,
                             n_groups=1, num_heads=3, head_dim=16,
                             time_step_limit=[0.5, 1.25],
                             tie_word_embeddings=False),
}

# Switches in the position that the models above do not have them in, and small.
MODELS |= {
    "gpt2-unscaled": gpt2(vocab_size=13, n_embd=8, n_layer=1, n_head=2,
                          scale_attn_weights=False),
    "bert-untied": bert(**FEW, vocab_size=13, tie_word_embeddings=False),
    "roberta-untied": roberta(**FEW, vocab_size=13, tie_word_embeddings=False),
    "qwen2-tied": llama_like("qwen2", 2, 1, **FEW, vocab_size=13,
                             tie_word_embeddings=True),
    "olmo2-biased": llama_like("olmo2", 2, 1, **FEW, vocab_size=13,
                               attention_bias=True, tie_word_embeddings=True),
    "olmo3-unbiased": llama_like(
        "olmo3", 2, 1, **FEW, vocab_size=13, attention_bias=False,
        tie_word_embeddings=True, sliding_window=5, rope_theta=500000.0),
    "smollm3-unbiased": llama_like(
        "smollm3", 2, 1, **FEW, vocab_size=13, attention_bias=False,
        mlp_bias=False, tie_word_embeddings=False),
    "olmoe-tied": llama_like("olmoe", 2, 1, **FEW, vocab_size=13,
                             num_experts=3, num_experts_per_tok=2,
                             tie_word_embeddings=True),
    "qwen3-moe-biased": llama_like(
        "qwen3-moe", 2, 1, **FEW, vocab_size=13, head_dim=6,
        attention_bias=True, num_experts=3, num_experts_per_tok=2,
        moe_intermediate_size=4, tie_word_embeddings=True),
    "vit-unbiased": vit(**FEW, image_size=8, num_labels=3, qkv_bias=False),
    "dinov2-unbiased": dinov2(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, mlp_ratio=1,
        image_size=8, num_labels=3, num_register_tokens=2, qkv_bias=False),
    "dinov3-unbiased": dinov3(**FEW, image_size=8, num_labels=3,
                              num_register_tokens=1, value_bias=False,
                              key_bias=True),
}


def pairs_of(fields):
    """One text has no end, which CLIP takes for its beginning, one two."""
    vision, text = fields["vision_config"], fields["text_config"]
    side, length = vision["image_size"], text["max_position_embeddings"]
    end = text.get("eos_token_id", -1)
    ids = torch.randint(0, text["vocab_size"] - 1, (5, length))
    ids[ids == end] += 1
    if end >= 0:
        ids[0, -1] = ids[2, 4] = ids[3, 2] = ids[3, 7] = ids[4, 0] = end
    return dict(pixel_values=torch.randn(5, vision.get("num_channels", 3), side,
                                         side),
                input_ids=ids, return_loss=True)


def batch_of(name, model, fields):
    if "vision_config" in fields:
        return pairs_of(fields)
    if isinstance(model, Dit):
        side, channels = fields["sample_size"], fields["in_channels"]
        return dict(pixel_values=torch.randn(4, channels, side, side),
                    # The last is no class, where there is one that says so.
                    labels=torch.tensor([3, 0, 10, fields["num_embeds_ada_norm"]
                                         - (fields.get("class_dropout_prob")
                                            == 0)]),
                    timesteps=torch.tensor([0, 999, 437, 20]),
                    noise=torch.randn(4, channels, side, side))
    if "image_size" in fields:
        side = fields["image_size"]
        if isinstance(model, DinoPair):
            local = fields["local_crops_size"]
            batch = dict(pixel_values=torch.rand(2 * 3, 3, side, side),
                         local_pixel_values=torch.rand(
                             3 * fields["local_crops_number"], 3, local, local))
            if model.patches:
                batch["noise"] = torch.rand(3, (side // fields["patch_size"]) ** 2)
            return batch
        if isinstance(model, ViTMAEForPreTraining):
            patches = (side // fields["patch_size"]) ** 2
            return dict(pixel_values=torch.randn(
                            3, fields["num_channels"], side, side),
                        noise=torch.rand(3, patches))
        return dict(pixel_values=torch.rand(3, 3, side, side),
                    labels=torch.randint(0, fields["num_labels"], (3,)))
    # Mamba's states are kept every 64 tokens.
    recurrent = isinstance(model, (MambaForCausalLM, Mamba2ForCausalLM))
    length = 81 if recurrent else 19
    length = LENGTHS.get(name, length)
    ids = torch.randint(0, fields["vocab_size"], (3, length))
    if not isinstance(model, MASKED):
        labels = ids.clone()
        labels[0, 5:8] = -100
        return dict(input_ids=ids, labels=labels)
    # Padding tokens count for RoBERTa's positions; most labels are ignored.
    if fields["pad_token_id"] is not None:
        ids[1, 15:] = fields["pad_token_id"]
    labels = torch.where(torch.rand(3, length) < 0.3,
                         torch.randint(0, fields["vocab_size"], (3, length)),
                         -100)
    if fields.get("token_dropout"):
        ids[labels != -100] = fields["mask_token_id"]
    batch = dict(input_ids=ids, labels=labels)
    if fields.get("type_vocab_size", 1) > 1:
        batch["token_type_ids"] = torch.randint(
            0, fields["type_vocab_size"], (3, length))
    return batch


def as_the_hub(name, key, tensor, before=""):
    """Experts one by one, as files on the hub have them; gradients always are."""
    match = re.fullmatch(r"(.*)mlp\.(gate\.weight|experts\.(gate_up|down)_proj)",
                         key)
    if not match or (name in PACKED and before == ""):
        return {before + key: tensor}
    mixtral = name.startswith("mixtral")
    prefix = before + match[1] + ("block_sparse_moe." if mixtral else "mlp.")
    if match[2] == "gate.weight":
        return {prefix + match[2]: tensor}
    words = (("w1", "w3", "w2") if mixtral
             else ("gate_proj", "up_proj", "down_proj"))
    parts = {}
    for i, expert in enumerate(tensor):
        both = (zip(words, expert.chunk(2)) if match[3] == "gate_up"
                else ((words[2], expert),))
        for word, part in both:
            parts[f"{prefix}experts.{i}.{word}.weight"] = part.contiguous()
    return parts


def make(name, folder):
    model_class, config_class, fields = MODELS[name]
    torch.manual_seed(sum(name.encode()))
    # The eager attention of towers has a softmax in fp32.
    config = config_class(**fields, attn_implementation=(
        "sdpa" if "vision_config" in fields else "eager"))
    if hasattr(config, "num_experts_per_tok"):
        config._experts_implementation = "eager"  # the others have no fp64
    model = model_class(config).eval()
    for key, parameter in model.named_parameters():
        # Large enough for every term of a gradient to be seen.
        norm = ("norm" in key.lower() and key.endswith("weight")
                or key.endswith("lambda1"))
        # DiT's make each other larger, until PyTorch's own fp32 is not exact.
        size = 0.5 if isinstance(model, Dit) else 1
        torch.nn.init.normal_(parameter, 1.0 if norm else 0.05 * size,
                              0.2 * size)
        if key in LOGITS:
            torch.nn.init.constant_(parameter, LOGITS[key])
        if name in PLACED and "pos" in key:
            (model.place if isinstance(model, Dit) else place)(parameter)
        if name in UNUSED and key.endswith("mlp.gate.weight"):
            others = [i for i in range(len(parameter)) if i != UNUSED[name]]
            parameter.data[UNUSED[name]] = parameter.data[others].mean(0)
    # Computed in double precision, from weights that fit in fp32.
    model.double()
    batch = batch_of(name, model, fields)
    doubles = PIXELS | ({"noise"} if isinstance(model, Dit) else set())
    for key in doubles & batch.keys():
        batch[key] = batch[key].double()
    loss = model(**batch).loss
    loss.backward()
    batch.pop("return_loss", None)

    golden = {"loss": loss.detach().float()}
    weights = {}
    for key, parameter in model.named_parameters():
        if name in WRITTEN:
            key = written(key)
        if not parameter.requires_grad and name not in PLACED:
            weights[key] = parameter.detach().float().contiguous()
        if parameter.grad is None:
            continue  # ESM's head for contacts, DINO's token of hidden patches
        weights.update(as_the_hub(name, key,
                                  parameter.detach().float().contiguous()))
        golden.update(as_the_hub(name, key, parameter.grad.float().contiguous(),
                                 "grad."))
    weights, golden = stored(name, weights), stored(name, golden)
    text = dict(fields)
    if not isinstance(model, Dit):
        text["model_type"] = config.model_type
    if "num_labels" in text:
        text["id2label"] = {str(i): f"LABEL_{i}" for i in range(text.pop("num_labels"))}
    (folder / f"{name}.json").write_text(json.dumps(text, indent=2, sort_keys=True) + "\n")
    save_file(weights, folder / f"{name}.weights.safetensors")
    for key in doubles & batch.keys():
        batch[key] = batch[key].float()
    save_file(batch, folder / f"{name}.batch.safetensors")
    save_file(golden, folder / f"{name}.golden.safetensors")


def token(i):
    return (7 * i + i // 5) % 67


class Lamb(torch.optim.Optimizer):
    """Algorithm 2 of arXiv 1904.00962, as it is written there."""

    def __init__(self, parameters, lr, betas, eps, weight_decay):
        super().__init__(parameters, dict(lr=lr, betas=betas, eps=eps,
                                          weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for x in group["params"]:
                state = self.state[x]
                t = state["t"] = state.get("t", 0) + 1
                m = state["m"] = (beta1 * state.get("m", 0)
                                  + (1 - beta1) * x.grad)
                v = state["v"] = (beta2 * state.get("v", 0)
                                  + (1 - beta2) * x.grad ** 2)
                r = m / (1 - beta1 ** t) / ((v / (1 - beta2 ** t)).sqrt()
                                            + group["eps"])
                u = r + group["weight_decay"] * x
                trust = x.norm() / u.norm() if x.norm() > 0 and u.norm() > 0 else 1
                x -= group["lr"] * trust * u


class Muon:
    """PyTorch's own for matrices of layers, without its rounding to bf16 unless
    that is asked for; AdamW for all others."""

    def __init__(self, model, adjust, rounds=False):
        hidden = [p for name, p in model.named_parameters()
                  if ".layers." in name and p.ndim == 2]
        others = [p for p in model.parameters()
                  if all(p is not q for q in hidden)]
        self.rounds = rounds
        self.parts = [
            torch.optim.Muon(hidden, lr=0.02, weight_decay=0.05, momentum=0.9,
                             adjust_lr_fn=adjust),
            torch.optim.AdamW(others, lr=0.01, betas=(0.9, 0.95), eps=1e-8,
                              weight_decay=0.1)]

    def zero_grad(self):
        for part in self.parts:
            part.zero_grad()

    def step(self):
        kept = torch.bfloat16
        if not self.rounds:
            torch.bfloat16 = torch.float64
        for part in self.parts:
            part.step()
        torch.bfloat16 = kept


def depth(folder, name):
    """A pass of training, of a student whose teacher has the same weights."""
    _, config_class, fields = MODELS[name]
    model_class = dict(dinov2=Dinov2Model,
                       dinov2_with_registers=Dinov2WithRegistersModel)
    config = config_class(**fields, attn_implementation="eager")
    model = DinoPairOfSome(config, config.model_type,
                           model_class[config.model_type])
    weights = load_file(folder / f"{name}.weights.safetensors")
    for key in [key for key in weights if ".weights_in." in key]:
        for part, half in zip(("gate_proj", "up_proj"),
                              weights.pop(key).chunk(2)):
            weights[key.replace("weights_in", part)] = half
    missing, unknown = model.load_state_dict(weights, strict=False)
    assert not unknown and all("mask_token" in key for key in missing)
    model.rate, model.lists = DinoPairOfSome.RATES[name], 0
    model.eval().double()
    batch = load_file(folder / f"{name}.batch.safetensors")
    loss = model(**{key: value.double() for key, value in batch.items()}).loss
    loss.backward()
    golden = {"grad." + key: parameter.grad.float().contiguous()
              for key, parameter in model.named_parameters()
              if parameter.grad is not None}
    golden["loss"] = loss.detach().float()
    save_file(stored(name, golden), folder / f"{name}.depth.safetensors")


def of_all(optimizer_class):
    return lambda model: optimizer_class(
        model.parameters(), lr=0.01, betas=(0.9, 0.95), eps=1e-8,
        weight_decay=0.1)


OPTIMIZERS = dict(
    adam=of_all(torch.optim.Adam),
    adamw=of_all(torch.optim.AdamW),
    lamb=of_all(Lamb),
    muon_jordan=lambda model: Muon(model, "original"),
    muon_moonshot=lambda model: Muon(model, "match_rms_adamw"),
    muon_bf16=lambda model: Muon(model, "original", rounds=True))


def train(folder, make_optimizer):
    """Twenty steps of four samples of sixteen tokens."""
    model_class, config_class, fields = MODELS["gpt-neox-parallel"]
    model = model_class(config_class(**fields, attn_implementation="eager"))
    model.load_state_dict(load_file(folder / "gpt-neox-parallel.weights.safetensors"))
    model.eval().double()
    optimizer = make_optimizer(model)
    losses = []
    for step in range(20):
        ids = torch.tensor([[token((step * 4 + sample) * 16 + i)
                             for i in range(16)] for sample in range(4)])
        optimizer.zero_grad()
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def main():
    folder = pathlib.Path(sys.argv[1])
    names = sys.argv[2:]
    for name in names or MODELS:
        if name not in ("training", "depth"):
            make(name, folder)
    if not names or "depth" in names:
        for name in DinoPairOfSome.RATES:
            depth(folder, name)
    if not names or "training" in names:
        save_file({name: train(folder, make_optimizer)
                   for name, make_optimizer in OPTIMIZERS.items()},
                  folder / "training.safetensors")


if __name__ == "__main__":
    main()
