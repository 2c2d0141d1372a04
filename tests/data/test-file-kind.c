/* SPDX-License-Identifier: Apache-2.0 */

/* Whose file it is that something is to be written over: of each kind, those of
 * the others and what is nobody's stay. */

#include "data/file-kind.h"
#include "data/shared.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define N_KINDS (QM_FILE_PNG + 1)

/* How a file of the kind begins. */
static const struct Start
{
  const char *name;
  const char *bytes;
  size_t n; /* 0: to the zero */
} starts[N_KINDS] = {
  [QM_FILE_RESULTS] = { "of results",
                        "{\"schema\":1,\"settings\":\"naive\",\"days\":2}\n",
                        0 },
  [QM_FILE_SHARED] = { "of shared results",
                       "{\"format\":\"" QM_SHARED_FORMAT "\",\"version\":1,"
                       "\"results\":1}\n{\"settings\":\"naive\",\"days\":2}\n",
                       0 },
  [QM_FILE_SPEEDS] = { "speeds", " {\"probes\": []}", 0 },
  [QM_FILE_SETTINGS] = { "of settings", "{\"zero_optimization\": {}}", 0 },
  [QM_FILE_SAFETENSORS] = { "of safetensors", "\2\0\0\0\0\0\0\0{}", 10 },
  [QM_FILE_SVG] = { "of SVG", "<?xml version=\"1.0\"?>\n<svg/>", 0 },
  [QM_FILE_PDF] = { "of PDF", "%PDF-1.7\n", 0 },
  [QM_FILE_PNG] = { "of PNG", "\x89PNG\r\n\x1a\n", 0 },
};

/* What is no file of ours, though it begins much like one. */
static const struct Start others[] = {
  { "a letter", "Dear Sir\n", 0 },
  { "JSON of somebody", "{\"name\": \"days\"}", 0 },
  { "a list", "[{\"probes\": []}]", 0 },
  { "a page", "<html></html>", 0 },
  { "a header longer than the file", "\x40\0\0\0\0\0\0\0{}", 10 },
  { "a header of nothing", "\0\0\0\0\0\0\0\0{}", 10 },
  { "a header longer than any file", "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10 },
  { "half a header", "\2\0\0\0\0\0\0", 7 },
  { "half a mark", "\x89PN", 0 },
};

static void
write_start (const char *path, const struct Start *start)
{
  FILE *stream = fopen (path, "wb");

  CHECK (stream != NULL);
  fwrite (start->bytes, 1, start->n > 0 ? start->n : strlen (start->bytes),
          stream);
  fclose (stream);
}

static void
check_kind (const char *path, QmFileKind kind, bool replaceable)
{
  QmError error = { 0 };

  CHECK (qm_file_is_replaceable (path, kind) == replaceable);
  CHECK_INT (qm_file_check_kind (path, kind, true, &error), QM_OK);
  CHECK_INT (qm_file_check_kind (path, kind, false, &error),
             replaceable ? QM_OK : QM_STATUS_IO);
  if (!replaceable)
    {
      CHECK_CONTAINS (error.message, starts[kind].name);
      CHECK_CONTAINS (error.message, "--force");
    }
}

int
main (void)
{
  char path[4096];

  snprintf (path, sizeof path, "%s/file", scratch_begin ());
  for (int kind = 0; kind < N_KINDS; kind++)
    {
      check_case (starts[kind].name);
      unlink (path);
      check_kind (path, (QmFileKind) kind, true); /* there is nothing */
      write_start (path, &(struct Start){ "", "", 0 });
      check_kind (path, (QmFileKind) kind, true);
      for (int other = 0; other < N_KINDS; other++)
        {
          /* To who asks for results, shared ones are results. */
          bool alike = kind == QM_FILE_RESULTS && other == QM_FILE_SHARED;

          write_start (path, &starts[other]);
          check_kind (path, (QmFileKind) kind, kind == other || alike);
        }
      for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        {
          check_case (others[i].name);
          write_start (path, &others[i]);
          check_kind (path, (QmFileKind) kind, false);
        }
    }
  scratch_end ();
  return check_report ();
}
