/* SPDX-License-Identifier: Apache-2.0 */

/* What tests of ranks and machines that run within the test have in common. */

#ifndef QM_TESTS_BENCH_TINY_H
#define QM_TESTS_BENCH_TINY_H

#include "tests/data/check.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

/* A model of one layer and its recipe. */
#define TINY_CONFIG                                                    \
  "{\"model_type\":\"gpt_neox\",\"vocab_size\":96,\"hidden_size\":16," \
  "\"num_hidden_layers\":1,\"num_attention_heads\":2,"                 \
  "\"intermediate_size\":32,\"hidden_act\":\"gelu\","                  \
  "\"max_position_embeddings\":16}"

#define TINY_RECIPE                                                         \
  "{\"batch_size\":12,\"steps\":10,\"sequence_length\":8,"                  \
  "\"precision\":\"bf16\",\"optimizer\":\"adamw\",\"learning_rate\":0.001," \
  "\"beta1\":0.9,\"beta2\":0.95,\"epsilon\":1e-8,\"weight_decay\":0.01,"    \
  "\"max_grad_norm\":1.0}"

/* A port that nobody listens at. */
static inline int
free_port (void)
{
  struct sockaddr_in place = { .sin_family = AF_INET,
                               .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  socklen_t length = sizeof place;
  int fd = socket (AF_INET, SOCK_STREAM, 0);

  CHECK (bind (fd, (struct sockaddr *) &place, sizeof place) == 0
         && getsockname (fd, (struct sockaddr *) &place, &length) == 0);
  close (fd);
  return ntohs (place.sin_port);
}

#endif
