/* SPDX-License-Identifier: Apache-2.0 */

/* Zip archives for tests, right and wrong ones. */

#pragma once

#include <gio/gio.h>

typedef struct
{
  const char *name;
  const char *data;
  gssize size; /* -1: up to the end of the text */
  guint flags; /* of the format: 1 is encrypted */
  gboolean deflated;
} ZipPart;

/* The archive of `n` parts; of a NULL name, none. */
GBytes *zip_make (const ZipPart *parts, guint n);
