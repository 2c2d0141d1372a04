# SPDX-License-Identifier: Apache-2.0
"""make-fields.py FILE: adds to FILE the names of the fields that the installed
Transformers and DeepSpeed know, under their versions, for test_export.py to hold
exported settings against, which needs neither.

Where the names stand:
  Transformers  training_args.py: the fields of TrainingArguments, the names that
                are looked up in fsdp_config, the values of OptimizerNames;
                _no_split_modules of the models
  DeepSpeed     runtime/constants.py: names of the configuration;
                runtime/zero/config.py, offload_config.py: zero_optimization;
                runtime/precision_config.py, in older versions constants.py: fp16
                and bf16; ops/adam: parameters of the optimizer
"""

import dataclasses
import inspect
import json
import pathlib
import re
import sys

import deepspeed
import transformers
from deepspeed.ops.adam import DeepSpeedCPUAdam, FusedAdam
from deepspeed.runtime import config, constants
from deepspeed.runtime.zero import config as zero, offload_config as offload
from transformers import training_args

MODELS = dict(gpt_neox='GPTNeoX', bert='Bert', roberta='Roberta', vit='ViT',
              convnext='ConvNext', mamba='Mamba', llama='Llama',
              mistral='Mistral', qwen2='Qwen2', qwen3='Qwen3', olmo2='Olmo2',
              olmo3='Olmo3', smollm3='SmolLM3', gemma3_text='Gemma3',
              gpt2='GPT2', modernbert='ModernBert', esm='Esm',
              olmoe='Olmoe', qwen3_moe='Qwen3Moe', mixtral='Mixtral',
              dinov2='Dinov2', dinov2_with_registers='Dinov2WithRegisters',
              dinov3_vit='DINOv3ViT', vit_mae='ViTMAE',
              starcoder2='Starcoder2', mamba2='Mamba2')


def of_transformers():
    source = inspect.getsource(training_args.TrainingArguments)
    looked_up = re.findall(r"fsdp_config(?:\[|\.\w+\()['\"](\w+)['\"]", source)
    blocks = {}
    for family, name in MODELS.items():
        model = getattr(transformers, name + 'PreTrainedModel')
        found = set(model._no_split_modules or ())
        for other in vars(sys.modules[model.__module__]).values():
            found |= set(getattr(other, '_no_split_modules', None) or ())
        blocks[family] = sorted(found)
    return dict(
        arguments=sorted(f.name for f in dataclasses.fields(
            training_args.TrainingArguments) if f.init),
        fsdp_config=sorted({*looked_up, 'version'}),
        optimizers=sorted(o.value for o in training_args.OptimizerNames),
        blocks=blocks)


def of_model(model):
    """Names and aliases of a pydantic model."""
    return sorted({name for field, info in model.model_fields.items()
                   for name in (field, info.alias) if name})


def of_precision(name):
    try:
        from deepspeed.runtime import precision_config
    except ImportError:
        prefix = dict(fp16='FP16_', bf16='BFLOAT16_')[name]
        return sorted(value for key, value in vars(constants).items()
                      if key.startswith(prefix) and isinstance(value, str)
                      and value.islower())
    return of_model(getattr(precision_config,
                            f'DeepSpeed{name.upper()}Config'))


def of_deepspeed():
    parameters = {name for adam in (DeepSpeedCPUAdam, FusedAdam)
                  for name in inspect.signature(adam.__init__).parameters}
    return dict(
        config=sorted({value for key, value in vars(constants).items()
                       if key.isupper() and isinstance(value, str)
                       and re.fullmatch(r'[a-z][a-z0-9_]+', value)}
                      | {zero.ZERO_OPTIMIZATION}),
        zero_optimization=of_model(zero.DeepSpeedZeroConfig),
        offload_optimizer=of_model(
            offload.DeepSpeedZeroOffloadOptimizerConfig),
        offload_param=of_model(offload.DeepSpeedZeroOffloadParamConfig),
        fp16=of_precision('fp16'), bf16=of_precision('bf16'),
        parameters=sorted(parameters - {'self', 'model_params', 'params'}
                          | {config.ADAM_W_MODE, config.TORCH_ADAM_PARAM}))


def main():
    path = pathlib.Path(sys.argv[1])
    known = json.loads(path.read_text()) if path.exists() else {}
    known.setdefault('transformers', {})[transformers.__version__] = \
        of_transformers()
    known.setdefault('deepspeed', {})[deepspeed.__version__] = of_deepspeed()
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + '\n')


main()
