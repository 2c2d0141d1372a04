/* SPDX-License-Identifier: Apache-2.0 */

/* A catalog as large as a test wants it: made-up GPUs, each measured in
 * machines of 1 to 8, over the shipped machines and platforms, and one shipped
 * model. */

#pragma once

#include "data/catalog.h"

#include <glib.h>

#define SYNTHETIC_MODEL  "pythia-1b"
#define SYNTHETIC_COUNTS 8 /* candidates of each GPU */

/* Writes and loads a catalog of `n_gpus` GPUs; the same number gives the same
 * catalog.  The files are gone again when it returns.  `data_dir` is where the
 * shipped facts are. */
QmCatalog *synthetic_catalog_new (const char *data_dir, guint n_gpus);
