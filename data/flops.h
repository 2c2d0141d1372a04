/* SPDX-License-Identifier: Apache-2.0 */

/* Model FLOPs and parameters in closed form.
 *
 * Counted: matrix products and convolutions, once for every multiply and once
 * for every add; causal attention half; the backward pass twice the forward.
 * Not counted: everything that a good kernel hides under memory traffic
 * (norms, activations, softmax, dropout, the optimizer).
 *
 * Forward, for s tokens, hidden size h, intermediate size i, L layers and a
 * vocabulary of V:
 *
 *   transformer layer    T = 2s (4h^2 + 2hi)         Vaswani et al. 2017, 3
 *   attention            A = 4s^2 h                  scores, and their product
 *                                                    with the values
 *   gpt_neox             L (T + A/2) + 2shV          Black et al. 2022, 2
 *   gpt2                 L (T + A/2) + 2shV          Radford et al. 2019, 2.3
 *   llama and its like   L 2s (2hq + 2hk + 3hi) + 2shV      Touvron et al.
 *                        + sum over layers of 4s^2 q        2023, 2.2; Ainslie
 *                          w (1 - w/2)                      et al. 2023, 2.2;
 *                        q is the width of all heads of     Beltagy et al.
 *                        queries, k that of keys, w the     2020, 3.1
 *                        share of the tokens that the layer's window has, 1
 *                        without
 *   olmoe, qwen3_moe,    the same, with 3hi of layers       Shazeer et al.
 *   mixtral              with experts replaced by he + 3hki 2017, 2.1; of e
 *                                                           experts of size i,
 *                                                           those k that a
 *                                                           token goes through
 *                                                           and the router
 *   starcoder2           as llama, with 2hi and one window  Lozhkov et al.
 *                        for all layers; q = h              2024, 6
 *   modernbert           L 2s (4h^2 + 3hi) + 2sh^2 + 2shV   Warner et al. 2024,
 *                        + sum over layers of 4s^2 h        2.1; w the share of
 *                          w (2 - w)                        the tokens that the
 *                                                           layer sees to one
 *                                                           side, 1 at most
 *   bert, roberta, esm   L (T + A) + 2sh^2 + 2shV    Devlin et al. 2019, 3; the
 *                                                    head has a dense layer and
 *                                                    looks at every token
 *   vit                  2p (c P^2) h + L (T + A) + 2hC     Dosovitskiy et al.
 *                        p patches of P x P pixels in c     2021, 3.1
 *                        channels, s = p + 1, C classes
 *   vit_mae              2k (c P^2) h + L (T + A) + 2shd    He et al. 2022, 3
 *                        + M (T_d + A_d) + 2td (c P^2)
 *                        of p patches k are kept; s = k + 1 tokens go through
 *                        L layers of size h, t = p + 1 through M of size d;
 *                        patches that are hidden need not be projected, which
 *                        PyTorch does
 *   dit                  2p (c P^2) h + L (T + A + 12h^2)   Peebles and Xie
 *                        + 2 (256h + 3h^2) + 2ph (o P^2)    2023, 3.2
 *                        of p patches of c channels, s = p, i = 4h; time and
 *                        class of a sample go through products of one row, and
 *                        o channels come out
 *   clip, siglip         2p (c P^2) h + L (T + A) + 2fB     Radford et al.
 *                        + the same of texts + 2gf          2021, 2.3; Zhai et
 *                        texts have layers of their own,    al. 2023, 3.2
 *                        of size g, and CLIP's half of A;
 *                        f features are compared with all
 *                        of a batch of B, once.  CLIP: s =
 *                        p + 1, and 2hf more; SigLIP: s = p,
 *                        and of one query 4sh^2 + 4h^2 + 4sh
 *                        + 4hi
 *   dinov2, dinov3_vit   2p (c P^2) h + L (T + A) + 2hC     Oquab et al. 2023;
 *                        s = p + 1 + registers; of DINOv2   Simeoni et al.
 *                        4hC; T with gates 2s (4h^2 + 3hi)  2025
 *    with prototypes     V_g = the same without classes,     Oquab et al. 2023,
 *                        of two crops, V_l of each smaller   4; a row goes
 *                        one: 2 V_g + l V_l + (2 + l) H of   through a head of
 *                        the student, 2 V_g + 2 H of the     sizes d, b and K
 *                        teacher, H = 2 (hd + (n - 2) d^2    prototypes, of n
 *                        + db + bK); layers of the student   layers
 *                        are of the share of samples that
 *                        stochastic depth leaves
 *   convnext             2 q_1 (c P^2) w_1                  Liu et al. 2022, 2
 *                        + sum over stages j > 1 of 2 q_j (4 w_(j-1)) w_j
 *                        + sum over stages j of
 *                            depth_j 2 q_j (49 w_j + 8 w_j^2)
 *                        + 2 w_last C
 *                        stage j has q_j pixels and width w_j; side of an image
 *                        after the stem: image / P, halved at every stage,
 *                        rounded down
 *   mamba                L 2s (2hd + kd + d (R + 2N) + Rd + 3dN + dh) + 2shV
 *                        d inner size, k convolution kernel, R time step rank,
 *                        N state size                Gu and Dao 2023, 3.4
 *   mamba2               L 2s (h (2d + 2GN + H) + k (d + 2GN) + 5dN/2 + dh)
 *                        + 2shV, with H heads and G groups of B and C, else
 *                        as above                    Dao and Gu 2024, 7
 *
 * Mamba's scan counts six for every token, channel and state: delta A,
 * (delta x) B, the multiply and add of the recurrence, and the multiply and add
 * of the product with C (Gu and Dao 2023, algorithm 2 and equation 2).  Mamba-2
 * counts five: delta A is one number for a head.
 */

#ifndef QM_DATA_FLOPS_H
#define QM_DATA_FLOPS_H

#include "data/model.h"

/* FLOPs of the selective scan for every token, channel and state. */
#define QM_MAMBA_SCAN_FLOPS 6

/* The same of Mamba-2, as a recurrence: products of chunks, by which it is
 * computed, are more. */
#define QM_MAMBA2_SCAN_FLOPS 5

/* Forward FLOPs of one sample (one sequence or one image, with all its crops),
 * those of a teacher among them. */
double qm_flops_forward_sample (const QmModelConfig *config,
                                const QmRecipe *recipe);

/* Forward and backward FLOPs of one sample: three times the forward, but of a
 * teacher, which has no backward pass, once. */
double qm_flops_train_sample (const QmModelConfig *config,
                              const QmRecipe *recipe);

/* FLOPs of the whole training: sample x batch size x steps. */
double qm_flops_train (const QmModelConfig *config, const QmRecipe *recipe);

/* Number of trainable parameters as Transformers counts them: with the head of
 * the pre-training task, weights that are tied once. */
int64_t qm_parameter_count (const QmModelConfig *config);

#endif
