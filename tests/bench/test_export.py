# SPDX-License-Identifier: Apache-2.0
"""qm-bench export: what it writes, against the names of the fields that
Transformers and DeepSpeed have (fields.json, written by make-fields.py).

usage: test_export.py QM_BENCH FIELDS MODELS_FOLDER
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = sys.argv[1]
FIELDS = json.loads(pathlib.Path(sys.argv[2]).read_text())
MODELS = {path.stem: json.loads(path.read_text())
          for path in pathlib.Path(sys.argv[3]).glob('*.json')}
# Those that no class of Transformers is trained as.
TAUGHT = {model for model, entry in MODELS.items()
          if 'head_n_prototypes' in entry['config']
          or '_class_name' in entry['config']
          or 'vision_config' in entry['config']}
# Those whose optimizer settings can name.
NAMED = {model: entry for model, entry in MODELS.items()
         if entry['recipe']['optimizer'] in ('adam', 'adamw')
         and model not in TAUGHT}
SHARDINGS = 'none', 'zero_1', 'zero_2', 'zero_3', 'fsdp_2', 'fsdp_3'


def export(*arguments):
    return subprocess.run([BENCH, 'export', *map(str, arguments)],
                          capture_output=True, text=True, timeout=60)


class Export(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def get(self, *arguments):
        result = export(*arguments, '--json')
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, '')
        return json.loads(result.stdout)

    def fails(self, status, text, *arguments):
        result = export(*arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(text, result.stderr)
        self.assertEqual(result.stdout, '')

    def check_deepspeed(self, config):
        for known in FIELDS['deepspeed'].values():
            def within(section, name):
                self.assertLessEqual(set(section), set(known[name]), name)

            within(config, 'config')
            for name in ('zero_optimization', 'fp16', 'bf16'):
                within(config[name], name)
            zero = config['zero_optimization']
            for name in ('offload_optimizer', 'offload_param'):
                within(zero.get(name, {}), name)
            self.assertEqual(set(config['optimizer']), {'type', 'params'})
            within(config['optimizer']['params'], 'parameters')

    def check_transformers(self, arguments, family):
        for known in FIELDS['transformers'].values():
            self.assertLessEqual(set(arguments), set(known['arguments']))
            self.assertIn(arguments['optim'], known['optimizers'])
            config = arguments.get('fsdp_config', {})
            self.assertLessEqual(set(config), set(known['fsdp_config']))
            if family in known['blocks']:
                self.assertLessEqual(
                    set(config.get('transformer_layer_cls_to_wrap', ())),
                    set(known['blocks'][family]))
        self.assertIn(family, known['blocks'])
        if 'deepspeed' in arguments:
            self.check_deepspeed(arguments['deepspeed'])

    def agree(self, arguments):
        """The Trainer refuses a DeepSpeed configuration that says something
        else than its arguments."""
        config = arguments['deepspeed']
        optimizer = config['optimizer']['params']
        for mine, its in (
                ('per_device_train_batch_size',
                 config['train_micro_batch_size_per_gpu']),
                ('gradient_accumulation_steps',
                 config['gradient_accumulation_steps']),
                ('max_grad_norm', config['gradient_clipping']),
                ('learning_rate', optimizer['lr']),
                ('weight_decay', optimizer['weight_decay']),
                ('adam_epsilon', optimizer['eps']),
                ('adam_beta1', optimizer['betas'][0]),
                ('adam_beta2', optimizer['betas'][1]),
                ('fp16', config['fp16']['enabled']),
                ('bf16', config['bf16']['enabled'])):
            self.assertEqual(arguments[mine], its, mine)

    def test_every_field_is_known(self):
        self.assertEqual((len(MODELS), len(NAMED)), (28, 22))
        for model, entry in NAMED.items():
            for sharding in SHARDINGS:
                for more in ((), ('--checkpoint', '--settings', 'naive')):
                    options = ('--model', model, '--micro-batch', 2,
                               '--offload', sharding, *more)
                    said = self.get(*options)
                    got = said['arguments']
                    self.check_transformers(got, entry['config']['model_type'])
                    self.assertEqual('zeros where positions' in str(said),
                                     model == 'mae-large')
                    self.assertEqual('deepspeed' in got,
                                     sharding.startswith('zero'))
                    self.assertEqual('fsdp' in got,
                                     sharding.startswith('fsdp'))
                    config = self.get(*options, '--format', 'deepspeed')
                    self.check_deepspeed(config['arguments'])
                    if 'deepspeed' in got:
                        self.assertEqual(config['arguments'], got['deepspeed'])
                        self.agree(got)

    def test_recipe(self):
        for model, entry in NAMED.items():
            recipe = entry['recipe']
            got = self.get('--model', model, '--micro-batch', 4)['arguments']
            for mine, its in (('learning_rate', 'learning_rate'),
                              ('adam_beta1', 'beta1'), ('adam_beta2', 'beta2'),
                              ('adam_epsilon', 'epsilon'),
                              ('weight_decay', 'weight_decay'),
                              ('max_grad_norm', 'max_grad_norm'),
                              ('max_steps', 'steps')):
                self.assertEqual(got[mine], recipe[its], mine)
            self.assertEqual(got['per_device_train_batch_size']
                             * got['gradient_accumulation_steps'],
                             recipe['batch_size'])
            self.assertEqual(got['fp16'], recipe['precision'] == 'fp16')
            self.assertEqual(got['bf16'], recipe['precision'] == 'bf16')

    def test_settings(self):
        def get(*more):
            return self.get('--model', 'pythia-160m', '--micro-batch', 8,
                            *more)

        naive, free = get('--settings', 'naive'), get()
        for name, before, after in (('tf32', False, True),
                                    ('torch_compile', False, True),
                                    ('optim', 'adamw_torch',
                                     'adamw_torch_fused')):
            self.assertEqual(naive['arguments'][name], before)
            self.assertEqual(free['arguments'][name], after)
        self.assertIn('attn_implementation="eager"', str(naive['notes']))
        self.assertIn('attn_implementation="sdpa"', str(free['notes']))
        got = get('--checkpoint')['arguments']
        self.assertTrue(got['gradient_checkpointing'])
        self.assertEqual(got['gradient_checkpointing_kwargs'],
                         {'use_reentrant': False})
        got = get('--offload', 'zero_2')
        self.assertFalse(got['arguments']['torch_compile'])
        self.assertIn('torch_compile is left out', str(got['notes']))
        got = get('--offload', 'fsdp_3', '--checkpoint')['arguments']
        self.assertTrue(got['fsdp_config']['reshard_after_forward'])
        self.assertTrue(got['fsdp_config']['activation_checkpointing'])
        self.assertNotIn('gradient_checkpointing', got)
        # What GPUs share is not offloaded.
        # The norm of gradients that are on the host is summed over ranks there.
        self.assertEqual(got['ddp_backend'], 'cuda:nccl,cpu:gloo')
        got = get('--gpus', 4, '--sharding', 'fsdp_2')['arguments']
        self.assertFalse(got['fsdp_config']['cpu_offload'])
        self.assertNotIn('ddp_backend', got)
        got = get('--gpus', 4, '--sharding', 'zero_3')['arguments']
        zero = got['deepspeed']['zero_optimization']
        self.assertNotIn('offload_optimizer', zero)
        self.assertNotIn('offload_param', zero)
        got = get('--gpus', 4)['arguments']
        self.assertEqual(got['gradient_accumulation_steps'], 1024 // 8 // 4)

    def test_every_way_of_several(self):
        """What DeepSpeed and Accelerate refuse: a batch that is no product, two
        types at once, a stage that is none."""
        for sharding in SHARDINGS:
            for more in ((), ('--checkpoint',)):
                options = ('--model', 'pythia-1b', '--micro-batch', 4,
                           '--gpus', 8, '--sharding', sharding, *more)
                got = self.get(*options)
                self.assertIn('--nproc-per-node 8', str(got['notes']))
                got = got['arguments']
                self.check_transformers(got, 'gpt_neox')
                self.assertFalse(got['fp16'] and got['bf16'])
                said = self.get(*options, '--format', 'deepspeed')
                self.assertIn('--num_gpus 8', str(said['notes']))
                config = said['arguments']
                self.check_deepspeed(config)
                # DeepSpeed makes train_batch_size the product with its ranks.
                self.assertNotIn('train_batch_size', config)
                self.assertEqual(
                    config['train_micro_batch_size_per_gpu'] * 8
                    * config['gradient_accumulation_steps'],
                    MODELS['pythia-1b']['recipe']['batch_size'])
                self.assertFalse(config['fp16']['enabled']
                                 and config['bf16']['enabled'])
                self.assertEqual(
                    config['zero_optimization']['stage'],
                    int(sharding[-1]) if sharding.startswith('zero') else 0)
                if sharding.startswith('fsdp'):
                    self.assertEqual(
                        (got['fsdp'], got['fsdp_config']['version'],
                         got['fsdp_config']['reshard_after_forward'],
                         got['fsdp_config']['auto_wrap_policy']),
                        (True, 2, sharding == 'fsdp_3',
                         'TRANSFORMER_BASED_WRAP'))
                    # Both at once are refused.
                    self.assertNotIn('deepspeed', got)
                    self.assertFalse(got.get('gradient_checkpointing'))
                    self.assertEqual(
                        'activation_checkpointing' in got['fsdp_config'],
                        bool(more))

    def test_stages(self):
        for stage in (1, 2, 3):
            got = self.get('--model', 'pythia-1b', '--micro-batch', 8,
                           '--offload', f'zero_{stage}', '--format',
                           'deepspeed')['arguments']
            zero = got['zero_optimization']
            self.assertEqual(zero['stage'], stage)
            self.assertEqual(zero['offload_optimizer'],
                             {'device': 'cpu', 'pin_memory': True})
            self.assertEqual('offload_param' in zero, stage == 3)
            # Adam, whose decay is added to the gradient.
            self.assertIs(got['optimizer']['params']['adam_w_mode'], False)
        got = self.get('--model', 'mamba-2.8b', '--micro-batch', 1,
                       '--offload', 'zero_1', '--format', 'deepspeed')
        self.assertEqual(got['arguments']['optimizer']['type'], 'AdamW')
        self.assertNotIn('adam_w_mode',
                         got['arguments']['optimizer']['params'])

    def result(self, **changes):
        """A line of a results file."""
        return json.dumps({
            'schema': 1, 'status': 'measured', 'time': '2026-11-21T06:40:00Z',
            'model': 'pythia-160m', 'model_key': self.key('pythia-160m'),
            'engine': 'quartermaster', 'version': '0.1.0', 'gpus': 1,
            'settings': 'free-lunch', 'checkpointing': False,
            'sharding': 'none', 'offloading': False, 'micro_batch': 32,
            'accumulation': 32, 'precision': 'fp16', 'days': 20.5,
            'step': {'mean_s': 12.4}, 'device': {'name': 'NVIDIA H200'},
            **changes}) + '\n'

    def key(self, model):
        if not hasattr(Export, 'keys'):
            Export.keys = {}
        if model not in Export.keys:
            Export.keys[model] = measured_key(model, self.path)
        return Export.keys[model]

    def test_result(self):
        path = self.path('results.jsonl')
        slow = self.result(days=30.5, settings='naive', micro_batch=16)
        zero = self.result(sharding='zero_2', offloading=True,
                           checkpointing=True, days=25)
        none = self.result(status='infeasible', sharding='zero_3',
                           offloading=True, micro_batch=1, reason='full',
                           memory='device', needs_bytes=2, available_bytes=1)
        pathlib.Path(path).write_text(slow + self.result() + zero + none)
        self.fails(1, '3 such results', '--result', path)
        got = self.get('--result', path, '--best')
        self.assertEqual(got['arguments']['per_device_train_batch_size'], 32)
        self.assertIn('PyTorch may need more memory', str(got['notes']))
        got = self.get('--result', path, '--line', 1)['arguments']
        self.assertEqual(got['per_device_train_batch_size'], 16)
        self.assertEqual(got['gradient_accumulation_steps'], 64)
        self.assertFalse(got['tf32'])
        got = self.get('--result', path, '--line', 3)['arguments']
        self.assertEqual(got['deepspeed']['zero_optimization']['stage'], 2)
        self.assertTrue(got['gradient_checkpointing'])
        self.fails(1, 'no measured result', '--result', path, '--line', 4)
        self.fails(1, 'no measured result', '--result', path, '--model',
                   'pythia-1b')

    def test_result_without_offloading(self):
        path = self.path('results.jsonl')
        pathlib.Path(path).write_text(self.result(
            sharding='zero_3', gpus=4, engine='pytorch',
            framework={'torch': '2.11.0'}))
        got = self.get('--result', path)
        zero = got['arguments']['deepspeed']['zero_optimization']
        self.assertEqual(zero['stage'], 3)
        self.assertNotIn('offload_optimizer', zero)
        self.assertNotIn('offload_param', zero)
        self.assertEqual(got['arguments']['gradient_accumulation_steps'], 8)
        self.assertNotIn('PyTorch may need', str(got['notes']))
        self.assertIn('--nproc-per-node 4', str(got['notes']))

    def test_result_of_machines(self):
        path = self.path('results.jsonl')
        pathlib.Path(path).write_text(''.join(
            self.result(gpus=gpus, nodes=2, sharding=sharding)
            for gpus, sharding in ((2, 'none'), (8, 'zero_2'))))
        for line, gpus in ((1, 1), (2, 4)):
            got = self.get('--result', path, '--line', line)
            self.assertIn(f'torchrun --nnodes 2 --nproc-per-node {gpus} ',
                          str(got['notes']))
            self.assertEqual(got['arguments']['gradient_accumulation_steps'],
                             1024 // 32 // 2 // gpus)
            got = self.get('--result', path, '--line', line, '--format',
                           'deepspeed')
            self.assertIn(f'deepspeed --num_nodes 2 --num_gpus {gpus},',
                          str(got['notes']))

    def test_result_is_refused(self):
        path = self.path('results.jsonl')
        pathlib.Path(path).write_text(self.result() + self.result(
            model='pythia-1b', model_key=self.key('pythia-1b')))
        self.fails(1, 'several models', '--result', path, '--best')
        self.get('--result', path, '--model', 'pythia-1b')
        pathlib.Path(path).write_text(self.result(model_key='0' * 16))
        self.fails(1, 'another configuration or recipe', '--result', path)
        pathlib.Path(path).write_text(self.result(settings='turbo'))
        self.fails(1, 'turbo', '--result', path)
        pathlib.Path(path).write_text(self.result(micro_batch=1 << 20))
        self.fails(1, 'more than the 1024 samples', '--result', path)
        pathlib.Path(path).write_text('{"schema": 2}\n')
        self.fails(5, 'schema', '--result', path)
        pathlib.Path(path).write_text('{"schema": \n{}\n')
        self.fails(1, ':1:', '--result', path)
        self.fails(1, 'cannot be', '--result', self.path('absent'))

    def test_file(self):
        out = self.path('arguments.json')
        options = '--model', 'vit-large', '--micro-batch', 64
        shown = export(*options)
        result = export(*options, '--out', out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, '')
        self.assertEqual(result.stderr, shown.stderr)
        self.assertIn('note: a sample is an image of 224 x 224 pixels',
                      shown.stderr)
        self.assertEqual(pathlib.Path(out).read_text(), shown.stdout)
        self.assertEqual(os.listdir(self.folder.name), ['arguments.json'])
        self.fails(1, 'cannot be written', *options, '--out',
                   self.path('absent/file'))

    def test_optimizers(self):
        """Settings can name Adam and AdamW alone."""
        for name in set(MODELS) - set(NAMED) - TAUGHT:
            self.fails(5, 'optimizer, lamb, is none', '--model', name,
                       '--micro-batch', 8)
        model = MODELS['vit-large']
        for optimizer in 'lamb', 'muon':
            recipe = dict(model['recipe'], optimizer=optimizer)
            if optimizer == 'muon':
                recipe.update(muon_learning_rate=0.02, muon_momentum=0.95,
                              muon_weight_decay=0, muon_scale='moonshot')
            for name, value in ('config', model['config']), ('recipe', recipe):
                pathlib.Path(self.path(name)).write_text(json.dumps(value))
            self.fails(5, f'optimizer, {optimizer}, is none', '--config',
                       self.path('config'), '--recipe', self.path('recipe'),
                       '--micro-batch', 8)

    def test_teacher(self):
        self.assertEqual(TAUGHT, {'clip-vit-l-14', 'dinov2-large', 'dit-xl-2',
                                  'siglip-vit-b-16-256'})
        for format in 'transformers', 'deepspeed':
            self.fails(5, 'have no teacher', '--model', 'dinov2-large',
                       '--micro-batch', 8, '--format', format)
            self.fails(5, 'has no dit model', '--model', 'dit-xl-2',
                       '--micro-batch', 8, '--format', format)
            for pairs in 'clip-vit-l-14', 'siglip-vit-b-16-256':
                self.fails(5, 'of its own micro-batch alone', '--model', pairs,
                           '--micro-batch', 8, '--format', format)

    def test_refusals(self):
        self.fails(2, '--format', '--model', 'vit-large', '--micro-batch', 1,
                   '--format', 'jax')
        self.fails(2, 'either', '--model', 'vit-large')
        self.fails(2, 'either', '--result', 'x', '--micro-batch', 1)
        self.fails(2, 'exactly one', '--micro-batch', 1)
        self.fails(2, 'more than the 4096 samples', '--model', 'vit-large',
                   '--micro-batch', 1024, '--gpus', 8)
        self.fails(2, '--micro-batch', '--model', 'vit-large', '--micro-batch',
                   0)
        self.fails(2, '--offload', '--model', 'vit-large', '--micro-batch', 1,
                   '--offload', 'tape')


def measured_key(model, path):
    """The key that the program gives a model, seen in a result that is made
    up."""
    program = pathlib.Path(path('python'))
    program.write_text(f'''#!{sys.executable}
import json, sys
question = json.loads(sys.stdin.readline())
print(json.dumps({{'result': dict(
    status='infeasible', micro_batch=1, memory='host', needs_bytes=2,
    available_bytes=1, notes=[], framework=dict(torch='2', transformers='5'),
    device=dict(id='cpu', name='CPU', processors=1, architecture=0,
                memory_bytes=1),
    phases_s=dict(load=0, search=0, measure=0, total=0))}}))
''')
    program.chmod(0o755)
    result = subprocess.run(
        [BENCH, 'framework', '--python', program, '--model', model, '--device',
         'cpu', '--json'], capture_output=True, text=True, timeout=60)
    return json.loads(result.stdout)['model_key']


unittest.main(argv=sys.argv[:1])
