/* SPDX-License-Identifier: Apache-2.0 */

#include "data/identity.h"

#include "data/error.h"
#include "data/sha256.h"
#include "data/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPUS_FOLDER  "/proc/driver/nvidia/gpus"
#define UUID_LABEL   "GPU UUID:"
#define MAX_FILE     ((size_t) 65536)
#define MACHINE_WORD "quartermaster machine "
#define GPU_WORD     "quartermaster gpu "
#define HEX          "0123456789abcdef"

/* Of a word of up to 63 bytes, all that ids and UUIDs have. */
static void
hash (const char *kind, const char *word, char result[QM_IDENTITY_BYTES])
{
  char text[128], digest[QM_SHA256_HEX];
  int length = snprintf (text, sizeof text, "%s%.63s", kind, word);

  qm_sha256 (text, (size_t) length, digest);
  memcpy (result, digest, QM_IDENTITY_BYTES - 1);
  result[QM_IDENTITY_BYTES - 1] = '\0';
}

/* 32 hexadecimal digits that are not all zero; while a system is being set up
 * the file says "uninitialized". */
static bool
is_machine_id (const char *word)
{
  return strlen (word) == 32 && strspn (word, HEX) == 32
         && strspn (word, "0") < 32;
}

static bool
read_machine (const char *file, char machine[QM_IDENTITY_BYTES])
{
  char *text;
  size_t length;
  bool known;

  machine[0] = '\0';
  if (file == NULL
      || qm_text_read_bytes (file, MAX_FILE, &text, &length, NULL) != QM_OK)
    return false;
  text[strcspn (text, " \t\r\n")] = '\0';
  known = is_machine_id (text);
  if (known)
    hash (MACHINE_WORD, text, machine);
  free (text);
  return known;
}

/* "GPU UUID: \t GPU-a23e7450-...", or question marks before the GPU was used
 * for the first time. */
static bool
read_gpu (const char *folder, const char *bus, char gpu[QM_IDENTITY_BYTES])
{
  char path[512], uuid[64] = "";
  char *text, *line;
  size_t length;

  gpu[0] = '\0';
  if (strchr (bus, '/') != NULL || bus[0] == '.' || bus[0] == '\0'
      || snprintf (path, sizeof path, "%s/%s/information", folder, bus)
             >= (int) sizeof path)
    return false;
  /* CUDA writes addresses in capitals, the driver's folders do not. */
  for (char *c = path + strlen (folder); *c != '\0'; c++)
    if (*c >= 'A' && *c <= 'F')
      *c = (char) (*c - 'A' + 'a');
  if (qm_text_read_bytes (path, MAX_FILE, &text, &length, NULL) != QM_OK)
    return false;
  line = strstr (text, UUID_LABEL);
  if (line != NULL)
    sscanf (line + strlen (UUID_LABEL), " %63s", uuid);
  free (text);
  if (strncmp (uuid, "GPU-", 4) != 0 || strchr (uuid, '?') != NULL)
    return false;
  hash (GPU_WORD, uuid, gpu);
  return true;
}

static int
compare_uuids (const void *a, const void *b)
{
  return strcmp (a, b);
}

void
qm_identity_read (const char *file, const char *folder, QmIdentity *identity)
{
  DIR *directory = opendir (folder);
  const struct dirent *entry;

  *identity = (QmIdentity){ .n_gpus = 0 };
  read_machine (file, identity->machine);
  while (directory != NULL && identity->n_gpus < QM_IDENTITY_GPUS
         && (entry = readdir (directory)) != NULL)
    if (read_gpu (folder, entry->d_name, identity->gpus[identity->n_gpus]))
      identity->n_gpus++;
  if (directory != NULL)
    closedir (directory);
  qsort (identity->gpus, identity->n_gpus, sizeof identity->gpus[0],
         compare_uuids);
}

void
qm_identity_here (QmIdentity *identity)
{
  const char *file = getenv ("QUARTERMASTER_MACHINE_ID");

  if (file != NULL && file[0] != '\0')
    {
      qm_identity_read (file, GPUS_FOLDER, identity);
      return;
    }
  qm_identity_read ("/etc/machine-id", GPUS_FOLDER, identity);
  if (identity->machine[0] == '\0')
    read_machine ("/var/lib/dbus/machine-id", identity->machine);
}

bool
qm_identity_gpu (const char *bus, char gpu[QM_IDENTITY_BYTES])
{
  return read_gpu (GPUS_FOLDER, bus, gpu);
}

bool
qm_identity_is_valid (const char *text)
{
  return strlen (text) == QM_IDENTITY_BYTES - 1
         && strspn (text, HEX) == QM_IDENTITY_BYTES - 1;
}

static bool
has_gpu (const QmIdentity *here, const char *gpu, size_t length)
{
  for (size_t i = 0; i < here->n_gpus; i++)
    if (strlen (here->gpus[i]) == length
        && memcmp (here->gpus[i], gpu, length) == 0)
      return true;
  return false;
}

static bool
has_all (const QmIdentity *here, const char *gpus)
{
  while (*gpus != '\0')
    {
      size_t length = strcspn (gpus, " ");

      if (!has_gpu (here, gpus, length))
        return false;
      gpus += length + strspn (gpus + length, " ");
    }
  return true;
}

QmWhere
qm_identity_where (const QmIdentity *here,
                   const char *machine,
                   const char *gpus)
{
  if (machine[0] == '\0' && gpus[0] == '\0')
    return QM_WHERE_UNSAID;
  if (gpus[0] != '\0' && here->n_gpus > 0)
    return has_all (here, gpus) ? QM_WHERE_HERE : QM_WHERE_ELSEWHERE;
  return machine[0] != '\0' && strcmp (machine, here->machine) == 0
             ? QM_WHERE_HERE
             : QM_WHERE_ELSEWHERE;
}
