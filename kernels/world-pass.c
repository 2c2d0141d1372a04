/* SPDX-License-Identifier: Apache-2.0 */

/* By what processes of a world know each other. */

#include "kernels/world.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static void
digest (const char *text, char *to, size_t size)
{
  char hex[QM_SHA256_HEX];

  if (text == NULL)
    return;
  qm_sha256 (text, strlen (text), hex);
  memcpy (to, hex, size);
}

void
qm_pass_make (const QmWorldOptions *options, QmWorldPass *pass)
{
  memset (pass, 0, sizeof *pass);
  digest (options->secret, pass->secret, sizeof pass->secret);
  digest (options->purpose, pass->purpose, sizeof pass->purpose);
  if (options->version != NULL)
    snprintf (pass->version, sizeof pass->version, "%s", options->version);
}

bool
qm_pass_is_ours (const QmWorldPass *ours, const QmWorldPass *theirs)
{
  unsigned char differs = 0;

  for (size_t i = 0; i < sizeof ours->secret; i++)
    differs |= (unsigned char) (ours->secret[i] ^ theirs->secret[i]);
  return differs == 0;
}

bool
qm_pass_check (const QmWorldPass *ours,
               const QmWorldPass *theirs,
               int first,
               char *why,
               size_t size)
{
  if (memcmp (ours->version, theirs->version, sizeof ours->version) != 0)
    snprintf (why, size,
              "rank %d comes with version %.*s of this program, and rank 0 has "
              "%s",
              first, (int) sizeof theirs->version, theirs->version,
              ours->version);
  else if (memcmp (ours->purpose, theirs->purpose, sizeof ours->purpose) != 0)
    snprintf (why, size,
              "rank %d comes with another command, model or options than rank "
              "0",
              first);
  else
    return true;
  return false;
}

bool
qm_pass_token (uint64_t *token)
{
  return getrandom (token, sizeof *token, 0) == sizeof *token;
}
