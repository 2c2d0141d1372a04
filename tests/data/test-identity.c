/* SPDX-License-Identifier: Apache-2.0 */

/* Which machine results are of, and saying it of those that do not. */

#include "data/identity.h"

#include "data/results-adopt.h"
#include "data/results-file.h"
#include "data/sha256.h"
#include "data/text.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID    "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"
#define UUID  "GPU-a23e7450-b7e3-1ec2-70f5-39b1ba606680"

/* A line without its last brace. */
#define LINE(micro_batch)                                                   \
  "{\"schema\":1,\"model\":\"tiny\",\"model_key\":\"0123456789abcdef\","    \
  "\"device\":{\"name\":\"H200\"},\"gpus\":1,\"settings\":\"free-lunch\","  \
  "\"checkpointing\":false,\"sharding\":\"none\",\"offloading\":false,"     \
  "\"precision\":\"bf16\",\"engine\":\"quartermaster\",\"version\":\"0.1\"" \
  ",\"status\":\"measured\",\"days\":2.5,\"step\":{\"mean_s\":1.5},"        \
  "\"time\":\"2026-11-21T06:40:00Z\",\"micro_batch\":" #micro_batch

/* The examples of FIPS 180-2, appendix B, and lengths around a block. */
static void
check_sha256 (void)
{
  static const struct
  {
    const char *text, *digest;
  } known[] = {
    { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { "abc",
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
  };
  char digest[QM_SHA256_HEX];
  char *many = malloc (1000000);

  check_case ("sha256");
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    {
      qm_sha256 (known[i].text, strlen (known[i].text), digest);
      CHECK_STRING (digest, known[i].digest);
    }
  memset (many, 'a', 1000000);
  qm_sha256 (many, 1000000, digest);
  CHECK_STRING (digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39"
                        "ccc7112cd0");
  qm_sha256 (many, 55, digest);
  CHECK_STRING (digest, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e"
                        "910f734318");
  qm_sha256 (many, 56, digest);
  CHECK_STRING (digest, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970"
                        "686ec6738a");
  qm_sha256 (many, 64, digest);
  CHECK_STRING (digest, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337"
                        "df154668eb");
  free (many);
}

static void
read_with (const char *id, QmIdentity *identity)
{
  char file[512];

  snprintf (file, sizeof file, "%s", scratch_path ("machine-id"));
  if (id != NULL)
    scratch_write_text ("machine-id", id);
  else
    unlink (file);
  qm_identity_read (file, scratch_path ("gpus"), identity);
}

static void
check_reading (void)
{
  static const char *const none[] = {
    NULL,
    "",
    "\n",
    "uninitialized\n",
    "00000000000000000000000000000000\n",
    "0123456789ABCDEF0123456789ABCDEF\n",
    ID "0\n",
  };
  QmIdentity identity;
  char file[512];

  check_case ("reading");
  read_with (ID "\n", &identity);
  /* printf 'quartermaster machine 0123456789abcdef0123456789abcdef' | sha256sum
   */
  CHECK_STRING (identity.machine, "83599ec828d2163ab7ef9623e4ed9f9b");
  CHECK_INT ((int64_t) identity.n_gpus, 0);
  CHECK (strstr (identity.machine, "01234567") == NULL);
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
    {
      read_with (none[i], &identity);
      CHECK_STRING (identity.machine, "");
    }
  read_with (NULL, &identity);
  snprintf (file, sizeof file, "%s", scratch_path ("machine-id"));
  CHECK_INT (mkfifo (file, 0600), 0);
  qm_identity_read (file, "/nonexistent", &identity);
  CHECK_STRING (identity.machine, "");
  unlink (file);

  scratch_write_text ("gpus/0000:1b:00.0/information",
                      "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 41\n"
                      "GPU UUID: \t " UUID "\nVideo BIOS: \t 96\n");
  scratch_write_text ("gpus/0000:1c:00.0/information",
                      "GPU UUID: \t GPU-?\?\?\n");
  scratch_directory ("gpus/0000:1d:00.0");
  read_with (ID "\n", &identity);
  CHECK_INT ((int64_t) identity.n_gpus, 1);
  /* printf 'quartermaster gpu GPU-a23e7450-...' | sha256sum */
  CHECK_STRING (identity.gpus[0], "9070229a2284359ebd95fa26890ce0ff");
}

static void
check_where (void)
{
  const QmIdentity bare = { .machine = "" };
  const QmIdentity here = { .machine = ID };
  const QmIdentity gpus = { .machine = ID, .n_gpus = 2, .gpus = { ID, OTHER } };
  const QmIdentity container = { .n_gpus = 1, .gpus = { OTHER } };

  check_case ("where");
  CHECK_INT (qm_identity_where (&here, "", ""), QM_WHERE_UNSAID);
  CHECK_INT (qm_identity_where (&bare, "", ""), QM_WHERE_UNSAID);
  CHECK_INT (qm_identity_where (&here, ID, ""), QM_WHERE_HERE);
  CHECK_INT (qm_identity_where (&here, OTHER, ""), QM_WHERE_ELSEWHERE);
  CHECK_INT (qm_identity_where (&here, QM_IDENTITY_ANOTHER, ""),
             QM_WHERE_ELSEWHERE);
  CHECK_INT (qm_identity_where (&bare, ID, ""), QM_WHERE_ELSEWHERE);
  CHECK_INT (qm_identity_where (&bare, "", ID), QM_WHERE_ELSEWHERE);
  /* A GPU that the driver does not show now. */
  CHECK_INT (qm_identity_where (&here, ID, OTHER), QM_WHERE_HERE);
  /* A copy of the system, and a system that was installed anew. */
  CHECK_INT (qm_identity_where (&container, ID, ID), QM_WHERE_ELSEWHERE);
  CHECK_INT (qm_identity_where (&gpus, OTHER, ID), QM_WHERE_HERE);
  CHECK_INT (qm_identity_where (&gpus, ID, OTHER " " ID), QM_WHERE_HERE);
  CHECK_INT (qm_identity_where (&gpus, ID,
                                OTHER " 0123456789abcdef0123456789abcde0"),
             QM_WHERE_ELSEWHERE);
  CHECK_INT (qm_identity_where (&container, "", OTHER), QM_WHERE_HERE);
}

static void
check_fields (void)
{
  static const char good[] =
      LINE (1) ",\"machine\":{\"id\":\"" ID "\",\"gpus\":[\"" OTHER "\",\"" ID
               "\"],\"new\":1}}\n" LINE (2) "}\n" LINE (
                   3) ",\"machine\":{\"id\":null,"
                      "\"gpus\":[]}}\n";
  static const char *const bad[] = {
    LINE (1) ",\"machine\":7}\n",
    LINE (1) ",\"machine\":{\"id\":\"x\"}}\n",
    LINE (1) ",\"machine\":{\"gpus\":{}}}\n",
    LINE (1) ",\"machine\":{\"gpus\":[1]}}\n",
    LINE (1) ",\"machine\":{\"gpus\":[\"" ID "0\"]}}\n",
  };
  QmResults *results = qm_results_new ();
  const QmResult *list;
  QmError error;
  size_t n, whole;

  check_case ("fields");
  CHECK_INT (qm_results_parse (results, good, strlen (good), "r", &whole,
                               &error),
             QM_OK);
  list = qm_results_list (results, &n);
  CHECK_INT ((int64_t) n, 3);
  CHECK_STRING (list[0].machine, ID);
  CHECK_STRING (list[0].machine_gpus, OTHER " " ID);
  CHECK_STRING (list[1].machine, "");
  CHECK_STRING (list[2].machine_gpus, "");
  CHECK_INT ((int64_t) qm_results_count_unsaid (results), 2);
  qm_results_free (results);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    {
      results = qm_results_new ();
      CHECK_INT (qm_results_parse (results, bad[i], strlen (bad[i]), "r",
                                   &whole, &error),
                 QM_STATUS_INVALID);
      CHECK_CONTAINS (error.message, "machine");
      qm_results_free (results);
    }
}

/* Each line that says nothing says it afterwards, and nothing else changes:
 * neither numbers nor lines that do not count any more. */
static void
check_adopting (void)
{
  static const char before[] =
      LINE (1) ",\"extra\":0.1234567890123456789}\n" LINE (1) "}\n\n" LINE (
          2) ",\"machine\":{\"id\":\"" OTHER
             "\"}}\n" LINE (3) ",\"machine\":{\"id\":null,\"gpus\":[]}}";
  const QmIdentity here = { .machine = ID };
  const QmIdentity bare = { .machine = "" };
  char path[512];
  QmResults *results = qm_results_new ();
  QmResultsFile *file;
  const QmResult *list;
  QmError error;
  char *text;
  size_t n, length, whole;
  bool busy;

  check_case ("adopting");
  snprintf (path, sizeof path, "%s", scratch_path ("adopt.jsonl"));
  CHECK_INT (qm_results_adopt (path, &here, &n, &error), QM_STATUS_NOT_FOUND);
  CHECK (access (path, F_OK) != 0);
  scratch_write_text ("adopt.jsonl", before);
  CHECK_INT (chmod (path, 0640), 0);
  CHECK_INT (qm_results_adopt (path, &bare, &n, &error), QM_STATUS_UNSUPPORTED);
  CHECK_INT (qm_results_open (path, false, false, &busy, &file, &error), QM_OK);
  CHECK_INT (qm_results_adopt (path, &here, &n, &error), QM_STATUS_IO);
  qm_results_close (file);
  CHECK_INT (qm_results_adopt (path, &here, &n, &error), QM_OK);
  CHECK_INT ((int64_t) n, 3);

  CHECK_INT (qm_text_read_bytes (path, 100000, &text, &length, &error), QM_OK);
  CHECK_CONTAINS (text, "\"extra\":0.1234567890123456789}\n{\"machine\":");
  CHECK_CONTAINS (text, "}\n\n{");
  CHECK_INT (qm_results_parse (results, text, length, "r", &whole, &error),
             QM_OK);
  free (text);
  list = qm_results_list (results, &n);
  CHECK_INT ((int64_t) n, 3);
  CHECK_STRING (list[0].machine, ID);
  CHECK_STRING (list[1].machine, OTHER);
  CHECK_STRING (list[2].machine, ID);
  CHECK_INT ((int64_t) qm_results_count_unsaid (results), 0);
  qm_results_free (results);
  CHECK_INT (qm_results_adopt (path, &here, &n, &error), QM_OK);
  CHECK_INT ((int64_t) n, 0);

  /* What is broken stays as it is. */
  scratch_write_text ("adopt.jsonl", LINE (1) "}\n{\"schema\":7}\n");
  CHECK (qm_results_adopt (path, &here, &n, &error) != QM_OK);
  CHECK_INT (qm_text_read_bytes (path, 100000, &text, &length, &error), QM_OK);
  CHECK (strstr (text, "machine") == NULL);
  free (text);
}

int
main (void)
{
  scratch_begin ();
  check_sha256 ();
  check_reading ();
  check_where ();
  check_fields ();
  check_adopting ();
  scratch_end ();
  return check_report ();
}
