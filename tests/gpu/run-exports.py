# SPDX-License-Identifier: Apache-2.0
"""Trains by what `qm-bench export --format transformers` writes.

For each way of sharding, with and without checkpointing and offloading, the
settings of a small model are exported, started as the export's own note says
(torchrun, --gpus processes), and trained for three steps by Transformers'
Trainer.  Looked at is what then runs: losses, which are those of the first way
but for roundings, that parameters are in parts where they should be, whether
weights are let go after the forward pass, where they lie, and checkpointing.  What DeepSpeed takes is trained where DeepSpeed is installed.
"""

import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import common

STEPS = 3
LENGTH = 64
# Small, and large enough for every layer to be divided.
CONFIGS = {
    'llama': {'model_type': 'llama', 'hidden_size': 256,
              'intermediate_size': 512, 'num_hidden_layers': 3,
              'num_attention_heads': 4, 'num_key_value_heads': 2,
              'vocab_size': 1024, 'max_position_embeddings': 128},
    'bert': {'model_type': 'bert', 'hidden_size': 256,
             'intermediate_size': 512, 'num_hidden_layers': 3,
             'num_attention_heads': 4, 'vocab_size': 1024,
             'max_position_embeddings': 128},
    'vit': {'model_type': 'vit', 'hidden_size': 256, 'intermediate_size': 512,
            'num_hidden_layers': 3, 'num_attention_heads': 4,
            'image_size': 64, 'patch_size': 16, 'num_labels': 10},
}
WAYS = ('none', 'zero_1', 'zero_2', 'zero_3', 'fsdp_2', 'fsdp_3')


def build(config):
    import transformers
    made = transformers.AutoConfig.for_model(**config)
    maker = {'llama': transformers.AutoModelForCausalLM,
             'bert': transformers.AutoModelForMaskedLM,
             'vit': transformers.AutoModelForImageClassification}
    return maker[config['model_type']].from_config(
        made, attn_implementation='sdpa')


def samples(config, count):
    import torch
    torch.manual_seed(1)
    if config['model_type'] == 'vit':
        return [{'pixel_values': torch.randn(3, 64, 64), 'labels': i % 10}
                for i in range(count)]
    words = torch.randint(config['vocab_size'], (count, LENGTH))
    return [{'input_ids': row, 'labels': row} for row in words]


def trained(model):
    """What is seen of a model that was trained."""
    import torch.distributed.tensor
    parameters = list(model.parameters())
    modules = list(model.modules())
    groups = [module._get_fsdp_state()._fsdp_param_group for module in modules
              if hasattr(module, '_get_fsdp_state')]
    groups = [group for group in groups if group is not None]
    return {
        'sharded': all(isinstance(p, torch.distributed.tensor.DTensor)
                       for p in parameters),
        # The outermost group is needed again at once: FSDP keeps it.
        'lets_go': sum(group._reshard_after_forward for group in groups),
        'groups': len(groups),
        'places': sorted({p.device.type for p in parameters}),
        'checkpointing': any(
            'CheckpointWrapper' in type(module).__name__
            or getattr(module, 'gradient_checkpointing', False)
            for module in modules),
    }


def train(folder):
    """In each process that torchrun starts."""
    import transformers
    folder = pathlib.Path(folder)
    config = json.loads((folder / 'config.json').read_text())
    parser = transformers.HfArgumentParser(transformers.TrainingArguments)
    arguments, = parser.parse_json_file(folder / 'settings.json')
    losses = []

    class Listener(transformers.TrainerCallback):
        def on_log(self, args, state, control, logs=None, **rest):
            if 'loss' in (logs or {}):
                losses.append(logs['loss'])

    arguments.logging_steps = 1
    arguments.report_to = []
    arguments.save_strategy = transformers.trainer_utils.SaveStrategy.NO
    count = (arguments.per_device_train_batch_size
             * arguments.gradient_accumulation_steps * arguments.world_size
             * STEPS)
    transformers.set_seed(1)
    trainer = transformers.Trainer(
        model=build(config), args=arguments,
        train_dataset=samples(config, count), callbacks=[Listener()])
    trainer.train()
    seen = trained(trainer.model_wrapped)
    if trainer.is_world_process_zero():
        print(json.dumps({'losses': losses, 'ranks': arguments.world_size,
                          'steps': trainer.state.global_step, **seen}))


def launch(options, folder, words):
    """Exports, then starts what was exported; what was seen, or why not."""
    exported = subprocess.run(
        [options.bench, 'export', '--config', folder / 'config.json',
         '--recipe', folder / 'recipe.json', '--gpus', options.gpus,
         '--micro-batch', '4', '--format', 'transformers', *words],
        capture_output=True, text=True, check=False)
    if exported.returncode != 0:
        return None, exported.stderr.strip()
    settings = json.loads(exported.stdout)
    settings['output_dir'] = str(folder / 'output')
    if options.device == 'cpu':
        settings |= {'tf32': False, 'torch_compile': False, 'use_cpu': True}
    (folder / 'settings.json').write_text(json.dumps(settings))
    done = subprocess.run(
        [sys.executable, '-m', 'torch.distributed.run', '--nproc-per-node',
         options.gpus, '--master-port', '0', '--standalone', __file__,
         '--train', str(folder)], capture_output=True, text=True, check=False,
        timeout=float(options.limit), env={**os.environ, 'OMP_NUM_THREADS': '1'})
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"')]
    if done.returncode != 0 or not lines:
        return None, ' | '.join(
            [line for line in done.stderr.splitlines() if 'Error' in line][-2:])
    return json.loads(lines[-1]), ''


def judge(options, seen, first, way, checkpoint, offload):
    """What is not as the words say, or nothing."""
    wrong = []
    if seen['ranks'] != int(options.gpus) or seen['steps'] != STEPS:
        wrong.append('steps or ranks')
    if (len(seen['losses']) != STEPS
            or not all(math.isclose(a, b, rel_tol=0.01)
                       for a, b in zip(seen['losses'], first['losses']))):
        wrong.append('losses')
    fsdp = way.startswith('fsdp')
    if seen['sharded'] != fsdp:
        wrong.append('sharding')
    if fsdp and (seen['lets_go'] > 0) != (way == 'fsdp_3'):
        wrong.append('weights after the forward pass')
    if fsdp and offload != (seen['places'] == ['cpu']) and options.device != 'cpu':
        wrong.append('place of weights')
    if seen['checkpointing'] != checkpoint:
        wrong.append('checkpointing')
    return wrong


def main():
    if sys.argv[1:2] == ['--train']:
        train(sys.argv[2])
        return
    options = common.arguments(__doc__, gpus='2', families=','.join(CONFIGS),
                               ways=','.join(WAYS), limit='120').parse_args()
    failures = checks = skipped = 0
    first = {}
    deepspeed = importlib.util.find_spec('deepspeed') is not None
    cases = [(family, way, checkpoint, offload)
             for family in options.families.split(',')
             for way in options.ways.split(',') for checkpoint in (False, True)
             for offload in (False, True) if way != 'none' or not offload]
    for family, way, checkpoint, offload in cases:
        name = (way + (', checkpointing' if checkpoint else '')
                + (', offloading' if offload else ''))
        checks += 1
        if way.startswith('zero') and not deepspeed:
            skipped += 1
            continue
        words = ['--sharding', way]
        words += ['--checkpoint'] if checkpoint else []
        words += ['--offload', way] if offload else []
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            recipe = {'batch_size': 8 * int(options.gpus), 'steps': STEPS,
                      'precision': 'bf16', 'optimizer': 'adamw',
                      'learning_rate': 1e-3, 'beta1': 0.9, 'beta2': 0.95,
                      'epsilon': 1e-8, 'weight_decay': 0.1,
                      'max_grad_norm': 1}
            if family != 'vit':
                recipe['sequence_length'] = LENGTH
            (folder / 'config.json').write_text(json.dumps(CONFIGS[family]))
            (folder / 'recipe.json').write_text(json.dumps(recipe))
            seen, why = launch(options, folder, words)
        first.setdefault(family, seen)
        wrong = [why] if seen is None else judge(
            options, seen, first[family] or seen, way, checkpoint, offload)
        failures += bool(wrong)
        print(f'{family:6} {name:36} {"FAILED" if wrong else "ok    "} '
              f'{", ".join(wrong) or seen["losses"]}', flush=True)
    if skipped:
        print('DeepSpeed is not installed: what needs it was not trained')
    common.conclude(failures, checks, skipped)


if __name__ == '__main__':
    main()
