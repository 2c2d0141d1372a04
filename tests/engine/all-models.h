/* SPDX-License-Identifier: Apache-2.0 */

/* Which of the golden models are trained in every way: one of each kind of
 * block. */

#ifndef QM_TESTS_ENGINE_ALL_MODELS_H
#define QM_TESTS_ENGINE_ALL_MODELS_H

/* The last learns from a teacher, which is neither divided nor offloaded. */
static const char *const all_models[] = { "gpt-neox-parallel",
                                          "gpt-neox-sequential",
                                          "bert",
                                          "roberta",
                                          "vit",
                                          "convnext",
                                          "mamba",
                                          "mamba-biased",
                                          "mamba2",
                                          "llama",
                                          "qwen2-yarn",
                                          "olmoe",
                                          "qwen3-moe",
                                          "mixtral",
                                          "qwen3-grouped",
                                          "olmo3",
                                          "smollm3",
                                          "gemma3",
                                          "gpt2",
                                          "starcoder2",
                                          "modernbert",
                                          "esm",
                                          "dinov2-gated",
                                          "dinov2-registers",
                                          "dinov3",
                                          "vit-mae-half",
                                          "dit",
                                          "dit-plain",
                                          "clip",
                                          "siglip",
                                          "dinov2-pair-hidden" };

#define N_ALL_MODELS      (sizeof all_models / sizeof all_models[0])
#define N_WITHOUT_TEACHER (N_ALL_MODELS - 1)

#endif
