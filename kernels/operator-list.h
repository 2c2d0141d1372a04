/* SPDX-License-Identifier: Apache-2.0 */

/* The operators; what is true of all of them is in kernels/operators.h, which
 * includes this. */

#ifndef QM_KERNELS_OPERATOR_LIST_H
#define QM_KERNELS_OPERATOR_LIST_H

typedef enum QmOp
{
  /* y = value.
   * in: none; out: 0 y, any shape */
  QM_OP_FILL,

  /* y = numbers drawn from `distribution` with `site`, dense: normal:
   * value + scale x N(0, 1); uniform: value + scale x [0, 1); index (y is
   * i32): a whole number in [0, count).
   * in: 0 rng; out: 0 y, dense */
  QM_OP_RANDOM,

  /* The number of the pass goes up by `count`.
   * in: 0 rng; out: 0 rng, the same tensor */
  QM_OP_ADVANCE,

  /* y = x, converted to the type of y; any strides.
   * in: 0 x; out: 0 y, of the same shape */
  QM_OP_COPY,

  /* y = a + b, and the same in another type where there is y2. Dense.
   * in: 0 a, 1 b; out: 0 y, 1 [y2] */
  QM_OP_ADD,

  /* sum[c] += scale x sum over r of x[r, c], in an order that does not
   * depend on the run.
   * in: 0 x [rows, columns]
   * out: 0 sum f32 [columns] */
  QM_OP_COLUMN_SUM,

  /* y = activation(x). Dense.
   * in: 0 x; out: 0 y */
  QM_OP_ACTIVATION,

  /* dx = dy activation'(x). Dense.
   * in: 0 dy, 1 x; out: 0 dx */
  QM_OP_ACTIVATION_BACKWARD,

  /* y = activation(gate) x up: half of a feed-forward layer with gates (Shazeer
   * 2020).
   * in: 0 gate [rows, features], 1 up [rows, features]
   * out: 0 y [rows, features] */
  QM_OP_GATE,

  /* dgate = dy up activation'(gate), dup = dy activation(gate).
   * in: 0 dy, 1 gate, 2 up
   * out: 0 dgate, 1 dup, all [rows, features] */
  QM_OP_GATE_BACKWARD,

  /* y = x / (1 - dropout) where kept, else 0. Dense. Positions are counted
   * by rows of the whole tensor, or, with `tiled`, as in attention: x is
   * then [B, H, S, S]. The gradient is the same operator on dy.
   * in: 0 x, 1 rng; out: 0 y */
  QM_OP_DROPOUT,

  /* y = activation(x w' + bias). `pre`, where present, receives the
   * argument of the activation, which its gradient needs; a kernel may round
   * the argument to the type of `pre` (or y) before. Where `padded`
   * is larger than `out`, rows out..padded-1 of w and bias exist in memory
   * and are zero, and every row of y (and pre) has room for `padded`
   * columns: a kernel may compute `padded` columns if that is faster.
   * in: 0 x [rows, in], 1 w [out, in], 2 [bias [out]]
   * out: 0 y [rows, out], 1 [pre [rows, out]] */
  QM_OP_LINEAR,

  /* dx = (dy w) activation'(pre) + add, dy w possibly rounded to the type of dx
   * before. Without `pre` the activation is none. With `padded`, columns
   * out..padded-1 of dy exist and are zero, and so are those rows of w.
   * in: 0 dy [rows, out], 1 w [out, in], 2 [pre [rows, in]],
   *     3 [add [rows, in]]
   * out: 0 dx [rows, in] */
  QM_OP_LINEAR_INPUT_GRAD,

  /* dw += dy' x, dbias += column sums of dy. With `padded` as above; rows
   * out..padded-1 of dw and dbias exist, and zero is added to them.
   * in: 0 dy [rows, out], 1 x [rows, in]
   * out: 0 dw f32 [out, in], 1 [dbias f32 [out]] */
  QM_OP_LINEAR_WEIGHT_GRAD,

  /* y = activation(gate) x up, with gate and up side by side in x w' + bias,
   * and in `pre`, where present; they may be rounded to the type of y before.
   * in: 0 x [rows, in], 1 w [2 features, in], 2 [bias [2 features]]
   * out: 0 y [rows, features], 1 [pre [rows, 2 features]] */
  QM_OP_GATED_LINEAR,

  /* The gradient of `pre`, as QM_OP_GATE_BACKWARD has its halves, of dy w,
   * which may be rounded to the type of dpre before.
   * in: 0 dy [rows, out], 1 w [out, features], 2 pre [rows, 2 features]
   * out: 0 dpre [rows, 2 features] */
  QM_OP_GATED_INPUT_GRAD,

  /* x w' + bias, which may be rounded to the type of y, then turned as
   * QM_OP_ROTARY turns: columns are heads of `width` elements, of every `chunk`
   * of which the first `count` turn, those of row r as position r % S does.
   * in: 0 x [rows, in], 1 w [out, in], 2 [bias [out]],
   *     3 table f32 [S, rotary]
   * out: 0 y [rows, out] */
  QM_OP_ROTARY_LINEAR,

  /* In FP8, for which, as for the next three, see kernels/scaled.h.
   * in: 0 x [r, c], 1 [history f32 [n]]
   * out: 0 [q [r, c]], 1 [scale f32 [1], or [r]], 2 [qt [c, t]],
   *      3 [scale_t f32 [c]], 4 [amax f32 [1]] */
  QM_OP_QUANTIZE,
  /* in: 0 amax f32 [k]; out: 0 history f32 [k, n], in and out */
  QM_OP_NOTE_AMAX,
  /* in: 0 a [r, k], 1 b [o, k], 2 sa f32 [1] or [r], 3 sb f32 [1] or [o],
   *     4 [bias [o]]; out: 0 y [r, o] */
  QM_OP_SCALED_LINEAR,
  /* in: 0 a, 1 b, 2 sa, 3 sb, as there; out: 0 dw f32 [r, o] */
  QM_OP_SCALED_WEIGHT_GRAD,

  /* c = scale x a b, for every pair of leading indices; any strides of which
   * one of the last two is 1. With `causal` only c[i, j] with j <= i matter
   * (kind 1) or only a[i, j] with j <= i are not zero (kind 2) or only a[i, j]
   * with j >= i are not zero (kind 3): a hint, and how FLOPs are counted; a
   * kernel that leaves out the rest of c writes zeros there.
   * in: 0 a [B, H, m, k], 1 b [B, H, k, n]
   * out: 0 c [B, H, m, n] */
  QM_OP_MATMUL,

  /* p = softmax over the last dimension; with `causal`, of the elements j
   * <= i, with `window` of those with |i - j| < window, all others being 0,
   * where Q is S.  Dense.
   * in: 0 x [B, H, Q, S]; out: 0 p */
  QM_OP_SOFTMAX,

  /* dx = p (dp - sum over the row of p dp). Dense.
   * in: 0 dp, 1 p; out: 0 dx */
  QM_OP_SOFTMAX_BACKWARD,

  /* y[b, h] = x[b, h / (H / G)]: heads of keys or values for all the heads of
   * queries that share them (Ainslie et al. 2023). Any strides but a dense
   * last. in: 0 x [B, G, S, D] out: 0 y [B, H, S, D], H a multiple of G */
  QM_OP_REPEAT_HEADS,

  /* dx[b, g] = sum of dy[b, h] over the heads h that g was repeated for.
   * in: 0 dy [B, H, S, D]; out: 0 dx [B, G, S, D] */
  QM_OP_REPEAT_HEADS_BACKWARD,

  /* o = dropout(softmax(scale x q k')) v, scale > 0, `causal` and `window` as
   * above; head h of q meets head h / (H / G) of k and v. lse[b, h, i] = log of
   * the sum over j of exp(scale x q_i k_j), natural. All of q, k, v, o have any
   * strides over B, H and S and dense rows of D, as parts of a packed tensor.
   * in: 0 q [B, H, S, D], 1 k, 2 v, each [B, G, S, D], H a multiple of G, 3
   *      [rng] where dropout > 0
   * out: 0 o [B, H, S, D], 1 lse f32 [B, H, S], dense */
  QM_OP_ATTENTION,

  /* With a table the first `rotary` elements of heads of dq and dk are turned
   * backwards, as QM_OP_ROTARY does; they may first be rounded.
   * in: 0 do, 1 q, 2 k, 3 v, 4 o, 5 lse, 6 [rng], 7 [table f32 [S, rotary]]
   * out: 0 dq, 1 dk, 2 dv, with shapes and strides as q, k, v have */
  QM_OP_ATTENTION_BACKWARD,

  /* sum = x + dropout(a) + dropout(b); n = (sum - mean) rstd; y = n gamma +
   * beta; y2 = n gamma2 + beta2, or, without gamma2, y once more in the type of
   * y2. rstd = 1 / sqrt(variance + epsilon), variance over the row with divisor
   * `features`. Dropout of a uses `site`, of b `site2`. Without a, sum is x and
   * is not written; y and y2 are made from the unrounded sum. An absent beta is
   * 0; beta2 is there where gamma2 and beta are. With `rms` (Zhang and Sennrich
   * 2019) there are no beta, beta2 and mean: the mean counts as 0. With a gain
   * there is no b, and sum = x + gain a with the dropout of samples that
   * QM_OP_LAYER_SCALE has.
   * in: 0 x, 1 gamma, 2 [beta], 3 [a], 4 [b], 5 [gamma2], 6 [beta2], 7 [rng]
   *      where dropout > 0, 8 [gain]; rows are [rows, features]
   * out: 0 y, 1 [mean f32 [rows]], 2 rstd f32 [rows], 3 [sum], 4 [y2] */
  QM_OP_LAYER_NORM,

  /* dx = dsum + the gradient through n of dy and dy2; without gamma2, dy + dy2
   * is the gradient of y. dbranch = dx through the dropout of a (so with
   * dropout 0: dx in another type), dbranch2 through that of b. With `rms` as
   * above, without dbeta and dbeta2. With a gain, dbranch and dgain are dx and
   * dgamma of QM_OP_LAYER_SCALE_BACKWARD.
   * in: 0 dy, 1 sum, 2 gamma, 3 [mean], 4 rstd, 5 [dsum], 6 [dy2], 7
   *      [gamma2], 8 [rng] where dropout > 0, 9 [a], 10 [gain]
   * out: 0 dx, 1 dgamma f32 +=, 2 [dbeta f32 +=], 3 [dgamma2 +=], 4 [dbeta2
   *      +=], 5 [dbranch], 6 [dbranch2], 7 [dgain +=] */
  QM_OP_LAYER_NORM_BACKWARD,

  /* y = rms norm (activation(gate) x) gamma, the root mean square that of the
   * row; what is gated is not rounded before (RMSNormGated of Dao and Gu 2024).
   * in: 0 gate [rows, features], 1 x, 2 gamma
   * out: 0 y [rows, features], 1 rstd f32 [rows] */
  QM_OP_GATED_NORM,

  /* in: 0 dy, 1 gate, 2 x, 3 gamma, 4 rstd
   * out: 0 dgate, 1 dx, all [rows, features], 2 dgamma f32 += */
  QM_OP_GATED_NORM_BACKWARD,

  /* Rotates the first `rotary` elements of the heads of the first `count` parts
   * (queries and keys), and leaves the others (values) as they are: element j <
   * r/2 and j + r/2 of a head at position s turn by the angle table[s, j],
   * backwards with `inverse`. Where y is x, nothing else is written.
   * in: 0 x, 1 table f32 [S, rotary] (r/2 cosines, then r/2 sines, a row)
   * out: 0 y; x and y are [B, S, P, H, D] with any strides but a dense
   *      last */
  QM_OP_ROTARY,

  /* y[t] = w[id[t]]; ids are in range.
   * in: 0 ids i32 [B, S], dense, 1 w [count, features]
   * out: 0 y [B S, features] */
  QM_OP_EMBEDDING,

  /* dw[id[t]] += dy[t], except for id = `padding` (-1: none). The order of
   * additions does not depend on the run; a table of one row is not slow.
   * in: 0 dy [B S, features], 1 ids i32 [B, S]
   * out: 0 dw f32 [count, features] */
  QM_OP_EMBEDDING_BACKWARD,

  /* Positions of a sequence. With padding < 0, y[b, s] = s. Else as
   * RoBERTa counts: padding + the number of tokens other than `padding` up
   * to and with s, and `padding` for those tokens themselves.
   * in: 0 ids i32 [B, S]
   * out: 0 y i32 [B, S] */
  QM_OP_POSITIONS,

  /* y[b, s] = x[b, s] x value / (1 - the share of ids of that sequence that are
   * `padding`), or 0 where the id is that: tokens that are hidden count as
   * dropped, and those that are not make up for it (facebookresearch/esm,
   * esm/model/esm2.py). The gradient is the same operator on dy.
   * in: 0 x [B S, features], 1 ids i32 [B, S]
   * out: 0 y [B S, features] */
  QM_OP_TOKEN_DROPOUT,

  /* y[b, i n + j] = pixels of the patch in row i and column j, ordered
   * channel, row, column, as the weights of a convolution are. Rows and
   * columns of pixels that fill no patch are left out.  With `kept`, only
   * patches kept[b] of image b, in that order.
   * in: 0 images [B, C, H, W] with any strides, of n = W/P patches a row; P
   *      = patch, 1 [kept i32 [B, K]]
   * out: 0 y [B H/P W/P, C P P], with `kept` [B K, C P P] */
  QM_OP_PATCHIFY,

  /* The other way round; pixels that are in no patch become 0.
   * in: 0 y [B H/P W/P, C P P]
   * out: 0 images [B, C, H, W] with any strides */
  QM_OP_UNPATCHIFY,

  /* y = activation(x * w + bias), a convolution of every channel with weights
   * of its own. Rows are the pixels of images of `height` x `width` by rows.
   * w[c, m, n] meets the pixel (m - M/2, n - N/2) away, with `causal` (m - M +
   * 1, n - N + 1), so that nothing below or right of a pixel counts: a sequence
   * is an image of height 1. Pixels outside of the image are 0.
   * in: 0 x [B H W, C], 1 w [C, M, N], dense, 2 [bias [C]]
   * out: 0 y [B H W, C] */
  QM_OP_DEPTHWISE_CONV,

  /* With g = dy activation'(x * w + bias), the argument computed once more
   * if there is an activation: dx = add + g * w turned by 180 degrees, dw
   * += and dbias += their gradients.
   * in: 0 dy, 1 x, 2 w, 3 [bias], 4 [add [B H W, C]]
   * out: 0 dx, 1 dw f32 [C, M, N], dense, 2 [dbias f32 [C]] */
  QM_OP_DEPTHWISE_CONV_BACKWARD,

  /* y = residual + gamma x, absent ones being 0 and 1. With dropout > 0, a
   * sample (`height` x `width` rows) either has gamma x / (1 - dropout) or
   * nothing added (stochastic depth, Huang et al. 2016): what dropout
   * decides for an element of a tensor is decided for sample by sample.  With
   * places, x has the rows of K of N samples alone, as QM_OP_MASK_PATCHES chose
   * them: sample n of y has scale gamma x of sample places[n] added, or nothing
   * where that is -1; dropout, height and width are not read.
   * in: 0 x [rows, features], 1 [gamma [features]], 2 [residual, as y], 3 [rng]
   *      where dropout > 0, 4 [places i32 [1, N]], 5 [kept i32 [1, K]] with it
   * out: 0 y [rows, features], with places [rows / K x N, features] */
  QM_OP_LAYER_SCALE,

  /* dx = gamma dy, of samples that are left out 0; dgamma += column sums of
   * x dy. The gradient of the residual is dy. With places, of their rows alone.
   * in: 0 dy, 1 x, 2 [gamma], 3 [rng], 4 [places], 5 [kept]
   * out: 0 dx, 1 [dgamma f32 [features]], where gamma is */
  QM_OP_LAYER_SCALE_BACKWARD,

  /* y[b] = mean of the rows of sample b, all samples having as many.  With
   * `first` > 0, y[b] = (row 0, mean of the rows from `first` on): what the
   * class token and the patches say, without what is between them.
   * in: 0 x [B rows, features]
   * out: 0 y [B, features], with `first` [B, 2 features] */
  QM_OP_POOL,

  /* dx[b, r] = dy[b] / rows, with `first` what belongs to the row, else 0.
   * in: 0 dy as y
   * out: 0 dx [B rows, features] */
  QM_OP_POOL_BACKWARD,

  /* The selective scan of Mamba (Gu and Dao 2023, algorithm 2) over
   * sequences of `width` rows. For every channel d, in the order of rows t:
   *
   *   s = softplus(dt[t, d] + bias[d]),  softplus(x) = log(1 + exp(x))
   *   h[n] = exp(-s exp(a[d, n])) h[n] + s b[t, n] u[t, d]
   *   y[t, d] = (sum over n of c[t, n] h[n] + skip[d] u[t, d]) silu(z[t, d])
   *
   * where h is 0 before the first row, and in fp32. states[q, k, n, d] is h
   * before row `chunk` k of sequence q: from there the gradient computes what
   * it needs of a chunk once more, and a kernel may work on the chunks of a
   * sequence at the same time. With a `chunk` of 1 every state is kept.
   * in: 0 u [rows, D], 1 dt [rows, D], 2 a f32 [D, N], dense, 3 b [rows, N],
   *      4 c [rows, N], 5 skip f32 [D], 6 [bias f32 [D]], 7 [z [rows, D]]
   * out: 0 y [rows, D], 1 states f32 [rows / width, width / chunk rounded
   *      up, N, D], dense */
  QM_OP_SELECTIVE_SCAN,

  /* in: 0 dy, 1 u, 2 dt, 3 a, 4 b, 5 c, 6 skip, 7 [bias], 8 [z], 9 states
   * out: 0 du, 1 ddt, 2 da f32 +=, 3 db, 4 dc, 5 dskip f32 +=, 6 [dbias f32
   *      +=], 7 [dz], each as its input is */
  QM_OP_SELECTIVE_SCAN_BACKWARD,

  /* The scan of Mamba-2 (Dao and Gu 2024, 2.1 and 6) over sequences of `width`
   * rows.  Of the D columns of x, H heads have P = D / H each; b and c are for
   * `count` groups of heads that follow each other, of N columns.  For head h
   * of group g, in the order of rows t:
   *
   *   s = softplus(dt[t, h] + bias[h]), at least `value` and, where `cap` is
   *       more than 0, at most that
   *   S[n, p] = exp(-s exp(a[h])) S[n, p] + s b[t, g N + n] x[t, h P + p]
   *   y[t, h P + p] = sum over n of c[t, g N + n] S[n, p]
   *                   + skip[h] x[t, h P + p]
   *
   * where S is 0 before the first row.  Nothing is kept for the gradient, which
   * computes states once more: all of a sequence's are far larger than what
   * they are made of.  A kernel may go through chunks of rows as products of
   * matrices, whose factors (decays among them) it rounds to the type of x, b
   * and c where that is the same 16-bit one.
   * in: 0 x [rows, D], 1 dt [rows, H], 2 a f32 [H], 3 b [rows, G N], 4 c [rows,
   *      G N], 5 skip f32 [H], 6 [bias f32 [H]]
   * out: 0 y [rows, D] */
  QM_OP_DUAL_SCAN,

  /* Where a limit changes s, its gradient is 0.
   * in: 0 dy, 1 x, 2 dt, 3 a, 4 b, 5 c, 6 skip, 7 [bias]
   * out: 0 dx, 1 ddt, 2 da f32 +=, 3 db, 4 dc, 5 dskip f32 +=, 6 [dbias f32
   *      +=], each as its input is */
  QM_OP_DUAL_SCAN_BACKWARD,

  /* Mixtures of experts: of every one of t tokens, k of e experts take part
   * (Shazeer et al. 2017), and none is left out, however many tokens an expert
   * gets.  Each pair of a token and an expert is a row, t k of them, and rows
   * of the same expert follow each other, in the order of tokens: row
   * `places[t, j]` is of token t and its j-th expert, and `rows` says the
   * opposite, t k + j of every row.  Rows of expert x are from offsets[x] on,
   * below offsets[x + 1].  All shapes are static, only numbers in memory of the
   * device say which rows are whose: so nobody waits for them, and a pass can
   * be captured.  In sums over a token's experts, their order is that of `j`;
   * nothing depends on the run.
   *
   * The k largest of p[t] = softmax(logits[t]), from the largest on, of equal
   * ones the first; weights are these, or with `normalized` these over their
   * sum.
   * in: 0 logits [t, e]
   * out: 0 weights f32 [t, k], 1 experts i32 [t, k], 2 rows i32 [t k], 3 places
   *      i32 [t, k], 4 offsets i32 [e + 1], all dense */
  QM_OP_ROUTE,

  /* in: 0 dweights f32 [t, k], 1 logits [t, e], 2 experts i32 [t, k]
   * out: 0 dlogits [t, e] */
  QM_OP_ROUTE_BACKWARD,

  /* y[r] = x[rows[r] / k]. The gradient is QM_OP_COMBINE_ROWS of dy.
   * in: 0 x [t, features], 1 rows i32 [t k], 2 places i32 [t, k]
   * out: 0 y [t k, features] */
  QM_OP_GATHER_ROWS,

  /* y[t] = sum over j of x[places[t, j]]. The gradient is QM_OP_GATHER_ROWS of
   * dy.
   * in: 0 x [t k, features], 1 rows i32 [t k], 2 places i32 [t, k]
   * out: 0 y [t, features] */
  QM_OP_COMBINE_ROWS,

  /* y[r] = weight of row r x activation(gate[r]) x up[r]: what an expert's
   * output is weighted by, before its last product, so that the output itself
   * need not be kept.
   * in: 0 gate [t k, features], 1 up [t k, features], 2 weights f32 [t, k], 3
   *      rows i32 [t k]
   * out: 0 y [t k, features] */
  QM_OP_WEIGHTED_GATE,

  /* in: 0 dy, 1 gate, 2 up, 3 weights, 4 rows
   * out: 0 dgate, 1 dup, 2 dweights f32 [t, k], dense */
  QM_OP_WEIGHTED_GATE_BACKWARD,

  /* y[r] = x[r] w[expert of r]'.
   * in: 0 x [rows, in], 1 w [e, out, in], dense, 2 offsets i32 [e + 1]
   * out: 0 y [rows, out] */
  QM_OP_GROUPED_LINEAR,

  /* dx[r] = dy[r] w[expert of r].
   * in: 0 dy [rows, out], 1 w [e, out, in], dense, 2 offsets i32 [e + 1]
   * out: 0 dx [rows, in] */
  QM_OP_GROUPED_INPUT_GRAD,

  /* dw[x] += dy' x over the rows of expert x; that of an expert without rows
   * stays as it is.
   * in: 0 dy [rows, out], 1 x [rows, in], 2 offsets i32 [e + 1]
   * out: 0 dw f32 [e, out, in], dense */
  QM_OP_GROUPED_WEIGHT_GRAD,

  /* load[0, x] = rows of expert x, load[1, x] = sum over t of p[t, x].
   * in: 0 logits [t, e], 1 offsets i32 [e + 1]
   * out: 0 load f32 [2, e], dense */
  QM_OP_EXPERT_LOAD,

  /* The gradient through p: dlogits = p (dload[1] - sum over x of p dload[1]).
   * in: 0 dload f32 [2, e], dense, 1 logits [t, e]
   * out: 0 dlogits [t, e] */
  QM_OP_EXPERT_LOAD_BACKWARD,

  /* The load-balancing loss of l layers of `count` tokens each (Fedus et al.
   * 2022, equations 4 to 6, over the tokens of all layers together, as
   * Transformers' load_balancing_loss_func has it): scale x e x sum over x of f
   * P, with f and P the sums over l of load[l, 0, x] and load[l, 1, x], over l
   * count.  f has no gradient; dload[l, 1, x] = loss scale x scale x e x f / (l
   * count), and dload[l, 0, x] = 0.
   * in: 0 load f32 [l, 2, e], 1 state (see QM_STATE_*)
   * out: 0 dload f32 [l, 2, e], 1 loss f32 [1] += */
  QM_OP_BALANCE,

  /* y[b, 0] = token + position[0]; y[b, s] = x[b, s - 1] + position[s], an
   * absent position being 0.  R registers (Darcet et al. 2024), which have no
   * position, are between the two: y[b, 1 + i] = registers[i], and x[b, s - 1]
   * is of y[b, s + R].  With `kept`, as of QM_OP_MASK_PATCHES, K = S - 1 of N
   * patches are there, and patch kept[b, s - 1] has its own position.
   * in: 0 x [B (S - 1), features], 1 token [features], 2 [position [S,
   *      features], with `kept` [N + 1, features]], 3 [registers [R,
   *      features]], 4 [kept i32 [B, K]]
   * out: 0 y [B (S + R), features] */
  QM_OP_CLASS_TOKEN,

  /* in: 0 dy [B (S + R), features]
   * out: 0 dx [B (S - 1), features], 1 dtoken f32 [features] +=, 2
   *      [dposition f32 [S, features] +=], 3 [dregisters f32 [R, features] +=]
   */
  QM_OP_CLASS_TOKEN_BACKWARD,

  /* The table that QM_OP_ROTARY takes for a sequence of `count` tokens, which
   * do not turn, and `height` x `width` patches by rows.  With the middle of a
   * patch at (y, x), from -1 to 1 over the image, element j < r/4 turns by
   * 2 pi y value^(-4j/r) and element r/4 + j by 2 pi x value^(-4j/r) (Simeoni
   * et al. 2025, DINOv3).  With rng, all patches of a pass are moved, in this
   * order: y and x by up to `move` each, then times up to `jitter` or its
   * inverse each, then both times up to `rescale` or its inverse; factors are
   * log-uniform, and 0 is none.
   * in: 0 [rng]
   * out: 0 table f32 [S, r], r a multiple of 4 */
  QM_OP_PATCH_ANGLES,

  /* Which K of the N patches of every sample are kept, and which are hidden (He
   * et al. 2022, MAE): those with the least noise, of equal ones the first, in
   * the order of patches.  Without `noise`, that is drawn with `site`, as
   * qm_mask_key() has it, for sample `pass` x B + b: what is hidden of a sample
   * depends on neither the number of ranks nor the size of a micro-batch.
   * Stochastic depth has it choose K of N samples: B draws of a pass.
   * in: 0 [noise f32 [B, N]], 1 [rng]: one of the two
   * out: 0 kept i32 [B, K]: patches, 1 places i32 [B, N]: what of `kept` a
   *      patch is, or -1 */
  QM_OP_MASK_PATCHES,

  /* All tokens again, those that were kept and one for all that were not:
   * y[b, 0] = x[b, 0] + position[0]; y[b, 1 + n] = position[1 + n]
   * + (x[b, 1 + places[b, n]], or token where that place is -1), an absent
   * position being 0.
   * in: 0 x [B (K + 1), features], 1 token [features], 2 places i32 [B, N], 3
   *      [position [N + 1, features]]
   * out: 0 y [B (N + 1), features] */
  QM_OP_RESTORE_TOKENS,

  /* in: 0 dy, 1 places
   * out: 0 dx [B (K + 1), features], 1 dtoken f32 [features] += */
  QM_OP_RESTORE_TOKENS_BACKWARD,

  /* The mean square of what is wrong about pixels that were hidden (He et al.
   * 2022). Row b (N + 1) + 1 + n of x is of patch n of image b, its elements in
   * the order row, column, channel; t are the pixels of that patch, or with
   * `normalized` (t - mean) / sqrt (variance + epsilon), of the patch, the
   * variance with divisor C P P - 1.  Of patches whose place is -1, `count` of
   * each image: losses[row] = scale / (B count) x mean over its elements of
   * (x - t)^2, and dx = loss scale x its gradient; both are 0 in other rows.
   * in: 0 x [B (N + 1), C P P], 1 images [B, C, H, W] with any strides, 2
   *      places i32 [B, N], 3 state (see QM_STATE_*)
   * out: 0 dx, 1 losses f32 [B (N + 1)] */
  QM_OP_PIXEL_LOSS,

  /* y[b, s] = x[b, s] + position[s].  The gradient of positions is the sum of
   * dy over b.
   * in: 0 x [B S, features], 1 position [S, features]
   * out: 0 y [B S, features] */
  QM_OP_ADD_POSITIONS,

  /* A layer norm with weights that a sample has (Peebles and Xie 2023, 3.2,
   * adaLN), of B samples of as many rows: sum[r] = x[r] + gate[b] a[r]; y[r] =
   * (sum[r] - mean) rstd (1 + scale[b]) + shift[b]; a, sum, mean and rstd are
   * as QM_OP_LAYER_NORM has them.
   * in: 0 x, 1 shift [B, features], 2 scale [B, features], 3 [a], 4 [gate]
   * out: 0 y [rows, features], 1 mean f32 [rows], 2 rstd f32 [rows], 3 [sum] */
  QM_OP_ADAPTIVE_NORM,

  /* dx = dsum + the gradient through the norm; dshift and dscale are sums over
   * the rows of a sample; da and dgate are as below, with dx for dy.
   * in: 0 dy, 1 sum, 2 scale, 3 mean, 4 rstd, 5 [dsum], 6 [a], 7 [gate]
   * out: 0 dx, 1 dshift [B, features], 2 dscale, 3 [da], 4 [dgate] */
  QM_OP_ADAPTIVE_NORM_BACKWARD,

  /* y[r] = residual[r] + gate[b] x[r], rows being of samples as above.
   * in: 0 x [rows, features], 1 gate [B, features], 2 residual [rows, features]
   * out: 0 y [rows, features] */
  QM_OP_GATED_ADD,

  /* dx[r] = gate[b] dy[r], dgate[b] = sum over the rows of b of x[r] dy[r]. The
   * gradient of the residual is dy.
   * in: 0 dy, 1 x, 2 gate
   * out: 0 dx, 1 dgate [B, features] */
  QM_OP_GATED_ADD_BACKWARD,

  /* What samples of diffusion are learned with (Ho et al. 2020, algorithm 1):
   * times in [0, count), alike; classes are the labels, or `padding` with the
   * probability `dropout`; noise is N(0, 1).  Drawn of sample `pass` x B + b as
   * kernels/diffusion.h says, like the masks of QM_OP_MASK_PATCHES.
   * in: 0 labels i32 [B, 1], 1 rng
   * out: 0 times i32 [B, 1], 1 classes i32 [B, 1], 2 noise f32 [B, C, H, W],
   *      all dense */
  QM_OP_DRAW_NOISE,

  /* y[b] = schedule[t, 0] x[b] + schedule[t, 1] noise[b], with t = times[b].
   * in: 0 x [B, C, H, W] with any strides, 1 noise f32 of the same shape,
   * dense, 2 times i32 [B, 1], 3 schedule f32 [T, 6] (see QM_SCHEDULE_*) out: 0
   * y, dense */
  QM_OP_ADD_NOISE,

  /* The mean square of what is wrong about noise that was added to images.  Row
   * b N + n of x is of patch n of image b, its elements in the order row,
   * column, channel: C channels of noise, and with `learned` C of what says the
   * variance, whose term in bits of the variational bound is added (Nichol and
   * Dhariwal 2021, 3.1), without a gradient to the noise; see
   * kernels/diffusion.h.  losses[row] = scale / (B x C H W) x the sum over its
   * elements, and dx = loss scale x its gradient.
   * in: 0 x [B N, C P P], with `learned` [B N, 2 C P P], 1 images [B, C, H, W]
   *      with any strides, 2 noise f32 of the same shape, dense, 3 times i32
   *      [B, 1], 4 schedule f32 [T, 6], 5 state (see QM_STATE_*)
   * out: 0 dx, 1 losses f32 [B N] */
  QM_OP_NOISE_LOSS,

  /* Rows shared out among columns, so that all columns get about as much: of
   * e[t, k] = exp((x[t, k] - 1) / value), `count` times, first the columns are
   * scaled so that each adds up to the same, and then the rows to 1 (Sinkhorn
   * and Knopp 1967; Caron et al. 2020, 3.1): p[t, k] = rows[t] e[t, k]
   * columns[k].  x are cosines, so that nothing overflows.
   * in: 0 x [t, v]
   * out: 0 p [t, v], 1 columns f32 [v], 2 rows f32 [t] */
  QM_OP_SHARE_OUT,

  /* Rows of x are tokens of `count` crops of each of B images, of each crop
   * first `first` tokens and then N patches; of the first crop of an image,
   * those patches are hidden (Zhou et al. 2022, iBOT) that QM_OP_MASK_PATCHES
   * chose: places[b, n] of them is at least 0.
   *
   * y = x, but token, or 0 without, in the rows of hidden patches.
   * in: 0 x [B count (first + N), features], 1 places i32 [B, N], 2 [token
   *      [features]], 3 [hidden i32 [B, H]], where token is: for its gradient
   * out: 0 y, of the same shape */
  QM_OP_HIDE_ROWS,

  /* y[b, j] = the row of patch hidden[b, j] of the first crop of image b.
   * in: 0 x [B count (first + N), features], 1 hidden i32 [B, H], 2 [places],
   *      for its gradient
   * out: 0 y [B H, features] */
  QM_OP_PICK_ROWS,

  /* All rows that were not picked are 0.
   * in: 0 dy [B H, features], 1 places i32 [B, N]
   * out: 0 dx [B count (first + N), features] */
  QM_OP_PICK_ROWS_BACKWARD,

  /* Pushes what is near apart (KoLeo, Sablayrolles et al. 2019, 3.2): rows are
   * of `count` crops of each image, and with z the rows of length 1 and n the
   * row of the same crop of another image whose z is the nearest: losses[r] =
   * -scale x log(|z[r] - z[n] + epsilon| + epsilon), and dx = loss scale x the
   * gradient of their sum.
   * in: 0 x [r, features], 1 state (see QM_STATE_*)
   * out: 0 dx, 1 losses f32 [r], 2 nearest i32 [r], 3 factors f32 [2, r]: 1
   *      over the length, and the distance */
  QM_OP_SPREAD_LOSS,

  /* Cross entropy with shares that a teacher gave to `count` crops each of B
   * images (Caron et al. 2021, equation 3): row B count crops of p, by images;
   * the rows of x are of those crops in the same order, and then of L other
   * crops of each image.  With T = the sum of the rows of p that are of the
   * image of a row, but for the one that is of the very same crop, and
   * S = log of the sum of exp(x / value): losses[r] = scale x sum over k of
   * T[k] (S - x[r, k] / value), and dx = loss scale x its gradient.  With
   * `count` 0, row r of x has row r of p alone. in: 0 x [B (count + L), v], 1 p
   * [B count, v], 2 state (see QM_STATE_*) out: 0 dx, 1 losses f32 [B (count +
   * L)] */
  QM_OP_TEACHER_LOSS,

  /* Where a text ends: found[b] is the first place of token `padding` in row b
   * of ids, or 0 where it has none; with a `padding` of -1 that of the largest
   * token, of equal ones the first.  places[b, s] is 0 there, else -1, as
   * QM_OP_PICK_ROWS takes it.
   * in: 0 ids i32 [B, S]
   * out: 0 found i32 [B, 1], 1 places i32 [B, S] */
  QM_OP_FIND_TOKENS,

  /* Puts rows of a pass among those of a whole step, of `count` ranks with
   * `chunk` passes each, the ranks one behind the other: of pass p, as rng
   * counts them, all[first + i] = x[i] with first = r (p % count x chunk
   * + p / count % chunk).
   * in: 0 x [r, features], 1 rng
   * out: 0 all [count chunk r, features], in and out, 1 first i32 [1] */
  QM_OP_KEEP_ROWS,

  /* Pairs of an image and a text, each of which is to be told from all others
   * of a step (Radford et al. 2021, CLIP, 2.3).  x are cosines of r samples of
   * one side and of all n of the other, s[i, j] = exp(temperature) x[i, j]:
   * sums[i] = log of the sum over j of exp(s[i, j]).
   * in: 0 x [r, n], 1 temperature f32 [1]
   * out: 0 sums f32 [r] */
  QM_OP_CONTRAST_SUMS,

  /* What r samples of one side add to the loss, row i being in a pair with
   * column m = first + i.  Without a bias, with the sums of all n samples of
   * this side (`own`) and of the other (`others`):
   *   losses[i] = scale (own[m] - s[i, m])
   *   ds[i, j] = scale (exp(s - own[m]) + exp(s - others[j]) - 2 [j = m])
   * With a bias (Zhai et al. 2023, SigLIP, 3.2), which is added to s, and with
   * y = 1 where j = m, else -1:
   *   losses[i] = scale x sum over j of log(1 + exp(-y s[i, j]))
   *   ds[i, j] = -2 scale y / (1 + exp(y s[i, j]))
   * Either side adds half of the loss, but ds is the gradient of both halves,
   * and dx = loss scale x exp(temperature) x ds: so what x is made of on the
   * other side need not have one.  dtemperature and dbias are slopes of
   * losses[i] alone, times the loss scale.
   * in: 0 x [r, n], 1 temperature f32 [1], 2 [bias f32 [1]], 3 first i32 [1],
   *      4 [own f32 [n]], 5 [others f32 [n]], 6 state (see QM_STATE_*)
   * out: 0 dx [r, n], 1 losses f32 [r], 2 dtemperature f32 [r], 3 [dbias f32
   *      [r]] */
  QM_OP_CONTRAST_LOSS,

  /* weight[0] = scale / n, weight[1] = loss scale x scale / n, for the n
   * labels that are not QM_IGNORE_LABEL (with `shift`, without the first
   * of every row); both 0 where n is.
   * in: 0 labels i32 [B, S], dense, 1 state (see QM_STATE_*)
   * out: 0 weight f32 [2] */
  QM_OP_LABEL_WEIGHT,

  /* Row t of the logits is row first + t of all and belongs to that label, with
   * `shift` to the next one of the same sequence (the last of a sequence to
   * none). With c = cap x tanh(logits / cap), where `cap` is not 0 (Gemma Team
   * 2024), else the logits, and L = log of the sum of exp(c[t]): losses[t] =
   * weight[0] x (L - c[t, label] + z_loss x L^2), 0 where ignored; the second
   * term, which keeps L near 0, is that of PaLM (Chowdhery et al. 2022).
   * dlogits = weight[1] x its gradient. With `padded`, columns
   * classes..padded-1 of dlogits are set to zero. A label outside of [0,
   * classes) other than QM_IGNORE_LABEL makes the loss NaN.
   * in: 0 logits [rows, classes], rows <= B S - first, 1 labels i32 [B, S],
   *      2 weight f32 [2]
   * out: 0 dlogits, 1 losses f32 [rows] */
  QM_OP_CROSS_ENTROPY,

  /* sum[0] = sum of x^2.
   * in: 0 x f32 [n], dense; out: 0 sum f32 [1] */
  QM_OP_SUM_SQUARES,

  /* From the sum of squares of the (loss-scaled) gradients, prepares an update:
   * the gradient's norm, the factor that unscales and clips to `max_norm` (0:
   * no clipping), whether a gradient is infinite or not a number; with
   * `dynamic`, halves the loss scale if so and doubles it after QM_SCALE_GROWTH
   * updates in a row that were not; counts the update if it will take place.
   * in: 0 sum f32 [1]; out: 0 state f32, in and out */
  QM_OP_UPDATE_STATE,

  /* Adam (Kingma and Ba 2015), or AdamW (Loshchilov and Hutter 2019) with
   * `decoupled`; nothing but clearing where the state says that a gradient
   * was not finite. w, where present, receives the weights in its own
   * type; the gradient is set to zero. Dense.
   * in: 0 state
   * out: 0 gradient f32 [n], 1 master f32 [n], 2 first moment f32 [n], 3
   *      second moment f32 [n], 4 [w [n]]; all but w in and out */
  QM_OP_ADAM,

  /* The direction of LAMB (You et al. 2020, algorithm 2), which takes the place
   * of the gradient: with moments m and v as Adam's, corrected for their bias,
   * u = m / (sqrt(v) + epsilon) + weight_decay x master.  All 0, and the
   * moments as they were, where the state says that a gradient was not finite.
   * in: 0 state, 1 master f32 [n], dense
   * out: 0 gradient f32 [n], 1 first moment f32 [n], 2 second moment f32 [n],
   *      all in and out */
  QM_OP_LAMB_DIRECTION,

  /* master -= rate x trust x u, with the trust of a tensor as the ratio of its
   * norms, 1 where one of them is 0; u is set to zero, and that is all that is
   * done where a gradient was not finite.
   * in: 0 state, 1 norms f32 [2]: sums of the squares of the tensor's weights
   *      and of its direction
   * out: 0 u f32 [n], 1 master f32 [n], in and out, 2 [w [n]] */
  QM_OP_LAMB_UPDATE,

  /* The momentum of Muon (Jordan et al. 2024): with the gradient g as the state
   * scales it, m = beta1 m + (1 - beta1) g; then (1 - beta1) g + beta1 m, as
   * Nesterov has it, takes the place of the gradient.  All of that is 0, and m
   * as it was, where a gradient was not finite.
   * in: 0 state
   * out: 0 gradient f32 [n], 1 moment f32 [n], both in and out */
  QM_OP_MUON_MOMENTUM,

  /* y = x / max(sqrt(sum), epsilon); x is set to zero.
   * in: 0 sum f32 [1]: of the squares of x
   * out: 0 x f32 [n], in and out, 1 y [n] */
  QM_OP_MUON_NORMALIZE,

  /* y = 3.4445 - 4.7750 a + 2.0315 a2, the first on the diagonal alone: what a
   * step of Muon's iteration multiplies x by, with a = x x' and a2 = a a.
   * in: 0 a [n, n], 1 a2 [n, n], dense
   * out: 0 y [n, n], dense */
  QM_OP_MUON_POLYNOMIAL,

  /* master -= value x weight_decay x master, then master -= value x scale x x,
   * unless a gradient was not finite; `value` is the learning rate while that
   * of the state is `cap`, of which it is always the same multiple; cap 0:
   * always. in: 0 state, 1 x [n], dense out: 0 master f32 [n], in and out, 1 [w
   * [n]] */
  QM_OP_MUON_UPDATE,

  /* An average of weights over updates that falls off with them: average =
   * value x average + (1 - value) x master, after an update.  With `first`,
   * before one, it begins: average = master where that update is the first, and
   * nothing is done in any other.  Nothing at all is done where a gradient was
   * not finite.  w, where present, receives the average in its own type when
   * that changes.
   * in: 0 state, 1 master f32 [n]
   * out: 0 average f32 [n], in and out, 1 [w [n]] */
  QM_OP_AVERAGE,

  /* Transfers of parameters and gradients between a device, its host and other
   * ranks, `unit` of them at a time, and what the host computes of them.  No
   * device runs these by itself: who has the other side queues them
   * (engine/host-side.h, engine/rank-side.h).
   *
   * Begins to fill y from the host, or of the parts of all ranks.
   * in: none; out: 0 y, dense */
  QM_OP_FETCH,

  /* From here on that has been done.  in: 0 y; out: none */
  QM_OP_FETCHED,

  /* Begins to send x: its sum over all ranks, of which each takes its part, is
   * added to what the host has, or the rank itself.
   * in: 0 x, dense; out: none */
  QM_OP_SEND,

  /* From here on x can be written again.  in: 0 x; out: none */
  QM_OP_SENT,

  /* sum[0] = sum of x^2, of all gradients that the host has.
   * in: none; out: 0 sum f32 [1] */
  QM_OP_HOST_SUM_SQUARES,

  /* Begins QM_OP_ADAM on the host, of part `unit` of all parameters: the
   * gradient comes from the device, where it is set to zero, unless the host
   * has it, and w goes there, unless weights are fetched.
   * in: 0 state; out: 0 [gradient f32 [n]], 1 [w [n]], dense */
  QM_OP_HOST_ADAM,

  /* From here on that has been done, of all parts.  in: none; out: none */
  QM_OP_HOST_UPDATED,

  /* Between ranks, in place; x is as many equal parts as there are ranks.
   *
   * Begins to make x the sum of all ranks' x.
   * in: none; out: 0 x, dense; in and out */
  QM_OP_ALL_REDUCE,

  /* Begins to make the rank's own part of x that of the sum; nothing is known
   * of the other parts afterwards.
   * in: none; out: 0 x, dense; in and out */
  QM_OP_REDUCE_SCATTER,

  /* Begins to make every part of x what the rank has whose own it is.
   * in: none; out: 0 x, dense; in and out */
  QM_OP_ALL_GATHER,

  /* From here on all three have been done, as often as they were begun.
   * in: none; out: none */
  QM_OP_EXCHANGED,

  QM_OP_COUNT
} QmOp;

#endif
