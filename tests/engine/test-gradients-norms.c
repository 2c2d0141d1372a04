/* SPDX-License-Identifier: Apache-2.0 */

/* The gradients of norms. */

#include "engine/passes.h"
#include "tests/data/check.h"
#include "tests/engine/gradient-bench.h"

#include <string.h>

typedef enum Norm
{
  NORM_BIASED,
  NORM_UNBIASED,
  NORM_RMS,
  NORM_COUNT
} Norm;

static void
test_layer_norm (int branches, bool second, double dropout, Norm kind)
{
  static const char *const names[NORM_COUNT] = { "layer norm",
                                                 "layer norm without bias",
                                                 "rms norm" };
  bool rms = kind == NORM_RMS, biased = kind == NORM_BIASED;
  GradientBench bench;
  QmNode *node;
  QmValueId in[7], out[5];

  gradient_begin (&bench, names[kind]);
  for (int i = 0; i < 7; i++)
    in[i] = QM_NO_VALUE;
  for (int i = 0; i < 5; i++)
    out[i] = QM_NO_VALUE;
  in[0] = gradient_input2 (&bench, 6, 11);
  in[1] = gradient_input1 (&bench, 11);
  if (biased)
    in[2] = gradient_input1 (&bench, 11);
  for (int i = 0; i < branches; i++)
    in[3 + i] = gradient_input2 (&bench, 6, 11);
  for (int i = 0; second && i < (biased ? 2 : 1); i++)
    in[5 + i] = gradient_input1 (&bench, 11);
  out[0] = gradient_value (&bench, 2, (int64_t[]){ 6, 11 });
  if (!rms)
    out[1] = gradient_value (&bench, 1, (int64_t[]){ 6 });
  out[2] = gradient_value (&bench, 1, (int64_t[]){ 6 });
  if (branches > 0)
    out[3] = gradient_value (&bench, 2, (int64_t[]){ 6, 11 });
  if (second)
    out[4] = gradient_value (&bench, 2, (int64_t[]){ 6, 11 });
  node = gradient_append (&bench, QM_OP_LAYER_NORM);
  node->attributes.epsilon = 1e-3;
  node->attributes.dropout = dropout;
  node->attributes.site = 1;
  node->attributes.site2 = 2;
  node->attributes.rms = rms;
  memcpy (node->inputs, in, sizeof in);
  node->inputs[7] = dropout > 0 ? bench.graph->rng : QM_NO_VALUE;
  memcpy (node->outputs, out, sizeof out);
  bench.output = out[0];
  /* The sum of all outputs, so that each has a gradient. */
  for (int i = 3; i < 5; i++)
    if (out[i] != QM_NO_VALUE)
      {
        QmValueId sum = gradient_value (&bench, 2, (int64_t[]){ 6, 11 });

        node = gradient_append (&bench, QM_OP_ADD);
        node->inputs[0] = bench.output;
        node->inputs[1] = out[i];
        node->outputs[0] = bench.output = sum;
      }
  gradient_end (&bench);
}

/* A norm of x + gain a, made as the two operators that it stands for, or as
 * one: the pass makes one of both.  The sum is read as well. */
static void
test_scaled (bool fused, bool second, double dropout, Norm kind)
{
  bool biased = kind == NORM_BIASED, rms = kind == NORM_RMS;
  GradientBench bench;
  QmNode *node;
  QmValueId x, a, gain, gamma, beta = QM_NO_VALUE, y, sum, other;

  gradient_begin (&bench, fused ? "norm with a gain" : "layer scale and norm");
  x = gradient_input2 (&bench, 12, 11);
  a = gradient_input2 (&bench, 12, 11);
  gain = gradient_input1 (&bench, 11);
  gamma = gradient_input1 (&bench, 11);
  if (biased)
    beta = gradient_input1 (&bench, 11);
  sum = gradient_value (&bench, 2, (int64_t[]){ 12, 11 });
  y = gradient_value (&bench, 2, (int64_t[]){ 12, 11 });
  node = gradient_append (&bench, QM_OP_LAYER_SCALE);
  node->attributes.height = 2;
  node->attributes.width = 3;
  node->attributes.dropout = dropout;
  node->attributes.site = 4;
  node->inputs[0] = a;
  node->inputs[1] = gain;
  node->inputs[2] = x;
  node->inputs[3] = dropout > 0 ? bench.graph->rng : QM_NO_VALUE;
  node->outputs[0] = sum;
  node = gradient_append (&bench, QM_OP_LAYER_NORM);
  node->attributes.epsilon = 1e-3;
  node->attributes.rms = rms;
  node->inputs[0] = sum;
  node->inputs[1] = gamma;
  node->inputs[2] = beta;
  node->outputs[0] = y;
  if (!rms)
    node->outputs[1] = gradient_value (&bench, 1, (int64_t[]){ 12 });
  node->outputs[2] = gradient_value (&bench, 1, (int64_t[]){ 12 });
  if (second)
    {
      node->inputs[5] = gradient_input1 (&bench, 11);
      if (biased)
        node->inputs[6] = gradient_input1 (&bench, 11);
      node->outputs[4] = gradient_value (&bench, 2, (int64_t[]){ 12, 11 });
    }
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 12, 11 });
  other = second ? node->outputs[4] : sum;
  node = gradient_append (&bench, QM_OP_ADD);
  node->inputs[0] = y;
  node->inputs[1] = other;
  node->outputs[0] = bench.output;
  if (fused)
    {
      CHECK_INT (qm_pass_fuse_forward (bench.graph, NULL), QM_OK);
      CHECK_INT (bench.graph->n_nodes, 2);
      node = &bench.graph->nodes[0];
      CHECK_INT (node->op, QM_OP_LAYER_NORM);
      CHECK_INT (node->inputs[0], x);
      CHECK_INT (node->inputs[3], a);
      CHECK_INT (node->inputs[8], gain);
      CHECK_INT (node->outputs[3], sum);
    }
  gradient_end (&bench);
}

static void
test_gated_norm (QmFunction function)
{
  GradientBench bench;
  QmValueId gate, x, gamma, rstd;
  QmNode *node;

  gradient_begin (&bench, "gated norm");
  gate = gradient_input2 (&bench, 6, 11);
  x = gradient_input2 (&bench, 6, 11);
  gamma = gradient_input1 (&bench, 11);
  rstd = gradient_value (&bench, 1, (int64_t[]){ 6 });
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 6, 11 });
  node = gradient_append (&bench, QM_OP_GATED_NORM);
  node->attributes.activation = function;
  node->attributes.epsilon = 1e-3;
  node->inputs[0] = gate;
  node->inputs[1] = x;
  node->inputs[2] = gamma;
  node->outputs[0] = bench.output;
  node->outputs[1] = rstd;
  gradient_end (&bench);
}

/* The result twice, as a model reads it that adds after its norms. */
static void
test_layer_norm_twice (void)
{
  GradientBench bench;
  QmNode *node;
  QmValueId x, gamma, beta, y, copy, mean, rstd;

  gradient_begin (&bench, "layer norm, written twice");
  x = gradient_input2 (&bench, 6, 11);
  gamma = gradient_input1 (&bench, 11);
  beta = gradient_input1 (&bench, 11);
  y = gradient_value (&bench, 2, (int64_t[]){ 6, 11 });
  copy = gradient_value (&bench, 2, (int64_t[]){ 6, 11 });
  mean = gradient_value (&bench, 1, (int64_t[]){ 6 });
  rstd = gradient_value (&bench, 1, (int64_t[]){ 6 });
  bench.output = gradient_value (&bench, 2, (int64_t[]){ 6, 11 });
  node = gradient_append (&bench, QM_OP_LAYER_NORM);
  node->attributes.epsilon = 1e-3;
  node->inputs[0] = x;
  node->inputs[1] = gamma;
  node->inputs[2] = beta;
  node->outputs[0] = y;
  node->outputs[1] = mean;
  node->outputs[2] = rstd;
  node->outputs[4] = copy;
  node = gradient_append (&bench, QM_OP_ACTIVATION);
  node->attributes.activation = QM_FUNCTION_TANH;
  node->inputs[0] = copy;
  node->outputs[0] = x = gradient_value (&bench, 2, (int64_t[]){ 6, 11 });
  node = gradient_append (&bench, QM_OP_ADD);
  node->inputs[0] = x;
  node->inputs[1] = y;
  node->outputs[0] = bench.output;
  gradient_end (&bench);
}

int
main (void)
{
  for (int branches = 0; branches < 3; branches++)
    for (int i = 0; i < 4; i++)
      if (branches > 0 || i < 2)
        for (int kind = 0; kind < NORM_COUNT; kind++)
          test_layer_norm (branches, i % 2 == 1, i < 2 ? 0 : 0.25, (Norm) kind);
  for (int i = 0; i < 8; i++)
    for (int kind = 0; kind < NORM_COUNT; kind++)
      test_scaled (i % 2 == 1, i / 2 % 2 == 1, i < 4 ? 0 : 0.25, (Norm) kind);
  test_layer_norm_twice ();
  test_gated_norm (QM_FUNCTION_SILU);
  test_gated_norm (QM_FUNCTION_GELU_TANH);
  return check_report ();
}
