/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/qm-terms.h"

#include <glib/gi18n-lib.h>

typedef struct
{
  const char *id;
  const char *name;
  const char *text;
} Entry;

static const Entry entries[] = {
  { "audit", N_ ("Audited"),
    N_ ("A time is held against what the GPUs can do at all. One that implies "
        "more than their peak is impossible, and is not recommended.") },
  { "doubtful", N_ ("Doubtful"),
    N_ ("A time that is shorter than what is predicted to be reachable there. "
        "Ask where it comes from before money rests on it.") },
  { "utilization", N_ ("Utilization"),
    N_ ("The share of what the GPUs can multiply at most, by their data sheet, "
        "that a training reaches.") },
  { "frontier", N_ ("Pareto frontier"),
    N_ ("The machines of which none is both cheaper and faster than another. "
        "Everything off the line is beaten in both.") },
  { "measured", N_ ("Measured"),
    N_ ("A time of a real run of this project, with the software that is "
        "named.") },
  { "reported", N_ ("Reported"),
    N_ ("A time of a real run of others, as they say.") },
  { "published", N_ ("Published"),
    N_ ("A time that the study printed which this program follows.") },
  { "predicted", N_ ("Predicted"),
    N_ ("A time computed from the operations of a training and what a GPU was "
        "seen to reach.") },
  { "interval", N_ ("Interval"),
    N_ ("Nine of ten times that were held against measurements lie within "
        "it.") },
  { "naive", N_ ("Naive"),
    N_ ("The framework as it comes, with nothing switched on.") },
  { "eager", N_ ("Eager"),
    N_ ("As most people train today: in mixed precision with fused attention, "
        "one operation after the other, not compiled.") },
  { "tuned", N_ ("Optimal"),
    N_ ("The best that was found for a machine: compiled, with whatever saves "
        "memory or time there.") },
  { "microbatch", N_ ("Micro-batch"),
    N_ ("So many samples a GPU takes at once. The rest of a batch follows in "
        "further rounds: the result is the same, the memory smaller.") },
  { "checkpointing", N_ ("Checkpointing"),
    N_ ("Only the inputs of blocks are kept, and the rest is computed once "
        "more: less memory, about a third more time.") },
  { "offloading", N_ ("Offloading"),
    N_ ("The states of the optimizer, or the weights too, are kept in the "
        "memory of the host: room for larger models, at the price of time.") },
  { "zero", N_ ("ZeRO"),
    N_ ("States of the optimizer (1), gradients too (2) or weights too (3) are "
        "shared out among the GPUs instead of being kept on each.") },
  { "fsdp", N_ ("FSDP"),
    N_ ("PyTorch’s own way to share weights, gradients and states of the "
        "optimizer out among the GPUs.") },
  { "machinedays", N_ ("Machine days"),
    N_ ("Days on which one machine trains, on all of its GPUs.") },
  { "experiment", N_ ("Cost of a training"),
    N_ ("The price spread evenly over the years that the machine is used, "
        "times the days of the training.") },
};

gboolean
qm_term_find (const char *id, QmTerm *term)
{
  g_return_val_if_fail (id != NULL && term != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    if (g_str_equal (entries[i].id, id))
      {
        *term =
            (QmTerm){ entries[i].id, _ (entries[i].name), _ (entries[i].text) };
        return TRUE;
      }
  return FALSE;
}
