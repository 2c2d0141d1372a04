# SPDX-License-Identifier: Apache-2.0
"""Weights as the Hugging Face hub has them: old and new names, several files,
and what is wrong with them.

usage: test_hub.py QM_BENCH GOLDEN_FOLDER
"""

import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from common import RECIPE, read_tensors, write_tensors

BENCH, GOLDEN = (pathlib.Path(word).resolve() for word in sys.argv[1:3])


def bench(*arguments):
    return subprocess.run([BENCH, *map(str, arguments)], capture_output=True,
                          text=True, timeout=120, check=False)


def renamed(tensors, *pairs):
    """With parts of names in place of others."""
    result = {}
    for name, tensor in tensors.items():
        for old, new in pairs:
            name = name.replace(old, new)
        result[name] = tensor
    return result


class Hub(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, value):
        with open(self.path(name), 'w') as file:
            json.dump(value, file)
        return self.path(name)

    def golden(self, model):
        return read_tensors(GOLDEN / f'{model}.weights.safetensors')

    def check(self, model, weights, *, config=None, batch=None, status=0):
        """Loss and gradients of weights, which are tensors or a path, and what
        was said."""
        if isinstance(weights, dict):
            write_tensors(self.path('w.safetensors'), **weights)
            weights = self.path('w.safetensors')
        if batch is not None:
            write_tensors(self.path('b.safetensors'), **batch)
        out = self.path('out.safetensors')
        result = bench(
            'check', '--config', config or GOLDEN / f'{model}.json',
            '--weights', weights, '--batch',
            GOLDEN / f'{model}.batch.safetensors' if batch is None
            else self.path('b.safetensors'), '--out', out, '--device', 'cpu')
        self.assertEqual(result.returncode, status, result.stderr)
        return read_tensors(out) if status == 0 else None, result.stderr

    def refused(self, text, model, weights, status=1, **options):
        _, said = self.check(model, weights, status=status, **options)
        self.assertIn(text, said)
        self.assertFalse(os.path.exists(self.path('out.safetensors')))

    def test_names(self):
        """The same under every name that a file may have for it."""
        for model, *pairs in (
                ('gpt-neox-parallel', ('lm_head.weight', 'embed_out.weight')),
                ('bert', ('LayerNorm.weight', 'LayerNorm.gamma'),
                 ('LayerNorm.bias', 'LayerNorm.beta')),
                ('mamba', ('backbone.embeddings', 'backbone.embedding'))):
            weights = self.golden(model)
            wanted, _ = self.check(model, weights)
            other = renamed(weights, *pairs)
            self.assertNotEqual(set(other), set(weights))
            found, said = self.check(model, other)
            self.assertEqual(said, '')
            self.assertEqual(found, renamed(wanted, *pairs))

    def test_two_names(self):
        """Twice the same is the same; two that differ are refused."""
        weights = self.golden('gpt-neox-parallel')
        kind, shape, data = weights['lm_head.weight']
        _, said = self.check('gpt-neox-parallel', dict(
            weights, **{'embed_out.weight': (kind, shape, data)}))
        self.assertEqual(said, '')
        os.unlink(self.path('out.safetensors'))
        self.refused('are the same parameter, and differ',
                     'gpt-neox-parallel', dict(weights, **{
                         'embed_out.weight': (kind, shape, bytes(len(data)))}))

    def train(self, config, *more):
        out = self.path('trained.safetensors')
        with open(self.path('text'), 'w') as file:
            file.write('abcdefgh' * 40)
        result = bench('train', '--config', self.write('config.json', config),
                       '--recipe', self.write('recipe.json', RECIPE),
                       '--device', 'cpu', '--text', self.path('text'),
                       '--steps', 1, '--out', out, *more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return read_tensors(out)

    def test_written(self):
        """Under the names that Transformers 4 and 5 both load, whatever they
        were read from."""
        sizes = dict(vocab_size=256, hidden_size=32, num_hidden_layers=1,
                     num_attention_heads=4, intermediate_size=64,
                     max_position_embeddings=32)
        neox = dict(model_type='gpt_neox', **sizes)
        weights = self.train(neox)
        self.assertIn('embed_out.weight', weights)
        self.assertNotIn('lm_head.weight', weights)
        write_tensors(self.path('old.safetensors'), **renamed(
            weights, ('embed_out', 'lm_head')))
        again = self.train(neox, '--weights', self.path('old.safetensors'))
        self.assertEqual(set(again), set(weights))
        for kind, old in (('bert', 'cls.predictions.'),
                          ('roberta', 'lm_head.')):
            config = dict(model_type=kind, **sizes)
            weights = self.train(config)
            self.assertIn(old + 'bias', weights)
            self.assertNotIn(old + 'decoder.bias', weights)
            # Of a head that is not tied 4 reads the one and 5 the other.
            weights = self.train(dict(config, tie_word_embeddings=False))
            self.assertEqual(weights[old + 'bias'],
                             weights[old + 'decoder.bias'])
            self.assertIn(old + 'decoder.weight', weights)

    def shards(self, weights, n=3):
        """Weights in several files, and an index."""
        parts = [{} for _ in range(n)]
        for i, (name, tensor) in enumerate(weights.items()):
            parts[i % n][name] = tensor
        index = {}
        for i, part in enumerate(parts):
            name = f'model-{i + 1:05d}-of-{n:05d}.safetensors'
            write_tensors(self.path(name), **part)
            index.update(dict.fromkeys(part, name))
        return index

    def index(self, index, **more):
        return self.write('model.safetensors.index.json', dict(
            metadata=dict(total_size=1), weight_map=index, **more))

    def test_shards(self):
        weights = self.golden('bert')
        wanted, _ = self.check('bert', weights)
        index = self.shards(weights)
        found, said = self.check('bert', self.index(index))
        self.assertEqual((found, said), (wanted, ''))
        folder = os.getcwd()
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, folder)
        found, _ = self.check('bert', 'model.safetensors.index.json')
        self.assertEqual(found, wanted)

    def test_shards_refused(self):
        weights = self.golden('bert')
        index = self.shards(weights)
        first, second = list(weights)[:2]
        outside = os.path.join(self.folder.name, '..', 'x.safetensors')

        def fails(text, status=1, **changes):
            self.refused(text, 'bert', self.index({**index, **changes}),
                         status)

        for name in ('../' + index[first], outside, '/etc/passwd', '..', '.',
                     '', 'a/b', '.hidden', 'x' * 300,
                     'model.safetensors.index.json'):
            fails('is no name of a file in its folder', **{first: name})
        fails('has no name of a file', **{first: 3})
        fails('cannot be opened', **{first: 'absent.safetensors'})
        fails('is in two files', **{first: index[second]})
        fails("'other' is not in", other=index[first])
        self.refused('is not in weight_map', 'bert', self.index(
            {name: file for name, file in index.items() if name != first}))
        for whole in ([], 3, {}, {'weight_map': {}}, {'weight_map': []}):
            self.refused('', 'bert', self.write(
                'model.safetensors.index.json', whole))
        with open(self.path('model.safetensors.index.json'), 'w') as file:
            file.write('{"weight_map": {"a": "b", "a": "c"}}')
        self.refused('duplicate', 'bert',
                     self.path('model.safetensors.index.json'))
        self.refused('512 files', 'bert', self.many(), status=5)
        os.unlink(self.path(index[first]))
        fails(index[first])

    def many(self):
        """An index of more files than are opened."""
        names = {f't{i}': f'{i}.safetensors' for i in range(513)}
        for tensor, name in names.items():
            write_tensors(self.path(name), **{tensor: ('F32', [1], bytes(4))})
        return self.index(names)

    def test_not_finite(self):
        for value, word in ((math.nan, 'not a number'),
                            (math.inf, 'infinite'), (-math.inf, 'infinite')):
            weights = self.golden('bert')
            name = 'bert.embeddings.position_embeddings.weight'
            kind, shape, data = weights[name]
            data = data[:8] + struct.pack('<f', value) + data[12:]
            weights[name] = kind, shape, data
            self.refused(f"{name}': element 2 is {word}", 'bert', weights)
        weights = self.golden('bert')
        kind, shape, data = weights['cls.predictions.bias']
        huge = struct.pack('<f', 3e38) * (len(data) // 4)
        scale = 'cls.predictions.transform.LayerNorm.weight'
        weights[scale] = (kind, weights[scale][1], struct.pack(
            '<f', 3e38) * weights[scale][1][0])
        weights['cls.predictions.bias'] = kind, shape, huge
        self.refused('not', 'bert', weights)
        batch = read_tensors(GOLDEN / 'vit.batch.safetensors')
        kind, shape, data = batch['pixel_values']
        batch['pixel_values'] = kind, shape, struct.pack(
            '<f', math.nan) + data[4:]
        self.refused('element 0 is not finite', 'vit', self.golden('vit'),
                     batch=batch)

    def test_nothing_learned(self):
        """The mean of no loss is no number in Transformers, and an error
        here."""
        for model in ('bert', 'gpt-neox-parallel', 'mamba', 'vit'):
            batch = read_tensors(GOLDEN / f'{model}.batch.safetensors')
            kind, shape, data = batch['labels']
            self.assertEqual(kind, 'I64')
            none = struct.pack('<q', -100) * (len(data) // 8)
            self.refused('all that count are -100', model,
                         self.golden(model),
                         batch=dict(batch, labels=(kind, shape, none)))
            one = struct.pack('<q', 1)
            self.check(model, self.golden(model), batch=dict(
                batch, labels=(kind, shape, none[:-8] + one)))
            os.unlink(self.path('out.safetensors'))
            # Nothing tells the first token of a text.
            if model in ('gpt-neox-parallel', 'mamba'):
                self.refused('all that count are -100', model,
                             self.golden(model), batch=dict(
                                 batch, labels=(kind, shape, one + none[8:])))

    def test_mask(self):
        batch = read_tensors(GOLDEN / 'bert.batch.safetensors')
        rows, columns = batch['input_ids'][1]
        ones = struct.pack('<q', 1) * (rows * columns)
        weights = self.golden('bert')
        self.check('bert', weights, batch=dict(
            batch, attention_mask=('I64', [rows, columns], ones)))
        os.unlink(self.path('out.safetensors'))
        for shape in ([columns, rows], [rows * columns], [1, rows, columns]):
            self.refused('does not have the shape', 'bert', weights,
                         batch=dict(batch, attention_mask=('I64', shape,
                                                           ones)))
        self.refused('masking tokens', 'bert', weights, status=5, batch=dict(
            batch, attention_mask=('I64', [rows, columns], bytes(8) + ones[8:])
        ))
        batch = read_tensors(GOLDEN / 'vit.batch.safetensors')
        self.refused("'attention_mask' is not supported", 'vit',
                     self.golden('vit'), status=5, batch=dict(
                         batch, attention_mask=('I64', [1], ones[:8])))

    def test_no_padding(self):
        """Without a padding token every word's embedding learns, which is as
        with a padding token that does not occur."""
        batch = read_tensors(GOLDEN / 'bert.batch.safetensors')
        kind, shape, data = batch['input_ids']
        ids = struct.unpack(f'<{len(data) // 8}q', data)
        ids = [0, *(i % 59 for i in ids[1:])]
        batch['input_ids'] = kind, shape, struct.pack(f'<{len(ids)}q', *ids)
        config = json.loads((GOLDEN / 'bert.json').read_text())
        grad = 'grad.bert.embeddings.word_embeddings.weight'

        def with_padding(token):
            path = self.write('config.json', dict(config, pad_token_id=token))
            return self.check('bert', self.golden('bert'), config=path,
                              batch=batch)[0]

        none = with_padding(None)
        self.assertEqual(none, with_padding(60))
        self.assertNotEqual(none[grad], with_padding(0)[grad])

    def test_diverged(self):
        """A training whose loss is no number ends there."""
        config = dict(model_type='gpt_neox', vocab_size=256, hidden_size=32,
                      num_hidden_layers=1, num_attention_heads=4,
                      intermediate_size=64, max_position_embeddings=32)
        with open(self.path('text'), 'w') as file:
            file.write('abcdefgh' * 40)
        result = bench('train', '--config', self.write('config.json', config),
                       '--recipe', self.write('recipe.json', dict(
                           RECIPE, max_grad_norm=0)), '--device', 'cpu',
                       '--text', self.path('text'), '--steps', 200,
                       '--learning-rate', 1e6, '--out', self.path('out'))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, 'the loss of step [0-9]+ is (not a '
                                        'number|infinite)')
        self.assertFalse(os.path.exists(self.path('out')))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
