/* SPDX-License-Identifier: Apache-2.0 */

/* What is written is read again; what is broken is refused, and said why. */

#include "engine/safetensors.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes a file with a header and 16 bytes of data. */
static void
write_raw (const char *header, uint64_t length)
{
  char *text = calloc (1, strlen (header) + 24);

  for (int i = 0; i < 8; i++)
    text[i] = (char) (length >> (8 * i));
  memcpy (text + 8, header, strlen (header));
  scratch_write ("raw.safetensors", text, strlen (header) + 24);
  free (text);
}

static void
check_refused (const char *header, const char *message)
{
  QmSafetensors *file;
  QmError error = { 0 };

  check_case (header);
  write_raw (header, strlen (header));
  CHECK_INT (qm_safetensors_open (scratch_path ("raw.safetensors"), &file,
                                  &error),
             QM_STATUS_PARSE);
  CHECK (file == NULL);
  CHECK_CONTAINS (error.message, message);
}

#define TENSOR(type, shape, begin, end)             \
  "{\"a\":{\"dtype\":\"" type "\",\"shape\":" shape \
  ",\"data_offsets\":[" begin "," end "]}}"

static void
test_refused (void)
{
  check_refused ("", "");
  check_refused ("[]", "not an object");
  check_refused ("{\"a\":1}", "type");
  check_refused ("{\"a\":{},\"a\":{}}", "duplicate");
  check_refused (TENSOR ("F31", "[4]", "0", "16"), "type");
  check_refused (TENSOR ("F32", "4", "0", "16"), "shape");
  check_refused (TENSOR ("F32", "[-4]", "0", "16"), "shape");
  check_refused (TENSOR ("F32", "[4.0]", "0", "16"), "shape");
  check_refused (TENSOR ("F32", "[1,1,1,1,1,1,1,1,4]", "0", "16"), "shape");
  check_refused (TENSOR ("F32", "[9223372036854775807,3]", "0", "16"), "shape");
  check_refused (TENSOR ("F32", "[4611686018427387904,4]", "0", "0"), "shape");
  check_refused (TENSOR ("F32", "[5]", "0", "20"), "outside");
  check_refused (TENSOR ("F32", "[4]", "-16", "0"), "outside");
  check_refused (TENSOR ("F32", "[4]", "16", "0"), "outside");
  check_refused (TENSOR ("F32", "[4]", "9223372036854775807", "0"), "outside");
  check_refused (TENSOR ("F32", "[3]", "0", "16"), "size");
}

static void
test_lengths (void)
{
  QmSafetensors *file;
  QmError error = { 0 };

  check_case ("lengths");
  write_raw ("{}", UINT64_MAX);
  CHECK_INT (qm_safetensors_open (scratch_path ("raw.safetensors"), &file,
                                  &error),
             QM_STATUS_PARSE);
  write_raw ("{}", 19);
  CHECK_INT (qm_safetensors_open (scratch_path ("raw.safetensors"), &file,
                                  &error),
             QM_STATUS_PARSE);
  scratch_write ("raw.safetensors", "short", 5);
  CHECK_INT (qm_safetensors_open (scratch_path ("raw.safetensors"), &file,
                                  &error),
             QM_STATUS_PARSE);
  CHECK_INT (qm_safetensors_open (scratch_path ("absent.safetensors"), &file,
                                  &error),
             QM_STATUS_IO);
  CHECK_INT (qm_safetensors_open ("/", &file, &error), QM_STATUS_IO);
}

static void
test_ints (void)
{
  QmSafetensors *file = NULL;
  QmError error = { 0 };
  int32_t values[2] = { 7, 7 };

  check_case ("whole numbers");
  write_raw (TENSOR ("I64", "[2]", "0", "16"),
             strlen (TENSOR ("I64", "[2]", "0", "16")));
  CHECK_INT (qm_safetensors_open (scratch_path ("raw.safetensors"), &file,
                                  &error),
             QM_OK);
  if (file == NULL)
    return;
  CHECK_INT (qm_safetensors_read_ints (file, qm_safetensors_find (file, "a"), 0,
                                       1, values, &error),
             QM_OK);
  CHECK (values[0] == 0 && values[1] == 0);
  CHECK_INT (qm_safetensors_read_ints (file, qm_safetensors_find (file, "a"), 1,
                                       9, values, &error),
             QM_STATUS_INVALID);
  CHECK_INT (qm_safetensors_read_floats (file, qm_safetensors_find (file, "a"),
                                         (float[2]){ 0 }, &error),
             QM_STATUS_UNSUPPORTED);
  CHECK (qm_safetensors_find (file, "b") == NULL);
  qm_safetensors_close (file);
}

static QmStatus
source (void *data, size_t index, float *to, QmError *error)
{
  int *fail = data;

  if (*fail)
    return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0, "lost");
  for (int i = 0; i < 6; i++)
    to[i == 0 || index == 1 ? i : 0] = index == 1 ? (float) i / 4 : 42;
  return QM_OK;
}

static void
test_round_trip (void)
{
  const QmTensorToStore tensors[] = {
    { .name = "loss" },
    { .name = "with \"quotes\" and \xc3\xa4", .rank = 2, .shape = { 2, 3 } },
  };
  char path[512];
  QmSafetensors *file = NULL;
  QmError error = { 0 };
  float values[6] = { 0 };
  size_t n;
  int fail = 1;

  check_case ("round trip");
  snprintf (path, sizeof path, "%s", scratch_path ("out.safetensors"));
  CHECK_INT (qm_safetensors_write (path, tensors, 2, source, &fail, &error),
             QM_STATUS_DEVICE);
  CHECK (access (path, F_OK) != 0);
  fail = 0;
  CHECK_INT (qm_safetensors_write (path, tensors, 2, source, &fail, &error),
             QM_OK);
  CHECK_INT (qm_safetensors_open (path, &file, &error), QM_OK);
  if (file == NULL)
    return;
  qm_safetensors_all (file, &n);
  CHECK_INT (n, 2);
  CHECK (qm_stored_has_shape (qm_safetensors_find (file, tensors[1].name), 2,
                              tensors[1].shape));
  CHECK_INT (qm_safetensors_read_floats (
                 file, qm_safetensors_find (file, tensors[1].name), values,
                 &error),
             QM_OK);
  for (int i = 0; i < 6; i++)
    CHECK_NEAR (values[i], i / 4.0, 0);
  CHECK_INT (qm_safetensors_read_floats (
                 file, qm_safetensors_find (file, "loss"), values, &error),
             QM_OK);
  CHECK_NEAR (values[0], 42, 0);
  qm_safetensors_close (file);
}

/* However long the header is, nothing of it is lost, and data is aligned. */
static void
test_header (void)
{
  char path[512], name[32] = "";
  int fail = 0;

  check_case ("header");
  snprintf (path, sizeof path, "%s", scratch_path ("header.safetensors"));
  for (int i = 0; i < 16; i++)
    {
      const QmTensorToStore tensor = { .name = name };
      QmSafetensors *file = NULL;
      const QmStoredTensor *stored;
      float number = 0;

      name[i] = 'n';
      CHECK_INT (qm_safetensors_write (path, &tensor, 1, source, &fail, NULL),
                 QM_OK);
      CHECK_INT (qm_safetensors_open (path, &file, NULL), QM_OK);
      stored = file != NULL ? qm_safetensors_find (file, name) : NULL;
      CHECK (stored != NULL);
      if (stored != NULL)
        {
          CHECK_INT ((int64_t) stored->begin % 8, 0);
          CHECK_INT (qm_safetensors_read_floats (file, stored, &number, NULL),
                     QM_OK);
          CHECK_NEAR (number, 42, 0);
        }
      qm_safetensors_close (file);
    }
}

int
main (void)
{
  scratch_begin ();
  test_refused ();
  test_lengths ();
  test_ints ();
  test_round_trip ();
  test_header ();
  scratch_end ();
  return check_report ();
}
