/* SPDX-License-Identifier: Apache-2.0 */

/* FLOPs and parameters of the parts that models are made of, as data/flops.h
 * counts them. */

#ifndef QM_DATA_FAMILY_COUNTS_H
#define QM_DATA_FAMILY_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

/* A product of (m x k) and (k x n): a multiply and an add for every element of
 * the three ranges. */
static inline double
qm_count_product (double m, double k, double n)
{
  return 2 * m * k * n;
}

/* Elements of a patch of `side` by `side` points. */
static inline int64_t
qm_count_patch (int64_t channels, int64_t side)
{
  return channels * side * side;
}

/* One layer of a transformer without its attention proper: query, key, value
 * and output, and the two of the MLP. */
static inline double
qm_count_transformer (double tokens, double hidden, double intermediate)
{
  return qm_count_product (tokens, hidden, 3 * hidden)
         + qm_count_product (tokens, hidden, hidden)
         + 2 * qm_count_product (tokens, hidden, intermediate);
}

/* Scores and their product with the values, over all heads together. */
static inline double
qm_count_attention (double tokens, double hidden)
{
  return qm_count_product (tokens, hidden, tokens)
         + qm_count_product (tokens, tokens, hidden);
}

/* The share of all pairs of tokens that causal attention looks at: earlier
 * ones, half of them, of which a window of share w leaves w (1 - w/2); a window
 * of -1 is none. */
static inline double
qm_count_causal (int64_t window, double tokens)
{
  double share =
      window >= 0 && (double) window < tokens ? (double) window / tokens : 1;

  return share * (1 - share / 2);
}

/* Forward FLOPs of an encoder that sees everything, with the head that tells
 * hidden tokens: a dense layer, and words. */
static inline double
qm_count_encoder (double tokens,
                  int64_t layers,
                  double hidden,
                  double intermediate,
                  double vocab)
{
  return (double) layers
             * (qm_count_transformer (tokens, hidden, intermediate)
                + qm_count_attention (tokens, hidden))
         + qm_count_product (tokens, hidden, hidden)
         + qm_count_product (tokens, hidden, vocab);
}

/* Weights and, where there are, biases of a linear layer. */
static inline int64_t
qm_count_linear (int64_t in, int64_t out, bool bias)
{
  return in * out + (bias ? out : 0);
}

static inline int64_t
qm_count_layer_norm (int64_t size)
{
  return 2 * size;
}

/* Parameters of one layer of a transformer with two norms. */
static inline int64_t
qm_count_transformer_layer (int64_t hidden,
                            int64_t intermediate,
                            bool qkv_bias,
                            bool output_bias)
{
  return qm_count_linear (hidden, 3 * hidden, qkv_bias)
         + qm_count_linear (hidden, hidden, output_bias)
         + qm_count_linear (hidden, intermediate, true)
         + qm_count_linear (intermediate, hidden, true)
         + 2 * qm_count_layer_norm (hidden);
}

#endif
