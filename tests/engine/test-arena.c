/* SPDX-License-Identifier: Apache-2.0 */

/* Laying buffers out: none overlaps another that lives at the same time, and
 * little is wasted. */

#include "engine/arena.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <stdlib.h>

static int64_t
random_below (uint64_t *state, int64_t bound)
{
  *state =
      *state * UINT64_C (6364136223846793005) + UINT64_C (1442695040888963407);
  return (int64_t) (*state >> 33) % bound;
}

static size_t
conflicts (const QmBuffer *buffers, size_t n, uint64_t size)
{
  size_t found = 0;

  for (size_t i = 0; i < n; i++)
    {
      const QmBuffer *a = &buffers[i];

      if (a->offset < 0 || a->offset + a->bytes > (int64_t) size)
        found++;
      for (size_t j = i + 1; j < n; j++)
        {
          const QmBuffer *b = &buffers[j];

          if (a->first <= b->last && b->first <= a->last
              && a->offset < b->offset + b->bytes
              && b->offset < a->offset + a->bytes)
            found++;
        }
    }
  return found;
}

static void
test_random (uint64_t seed)
{
  enum
  {
    MOST = 300
  };
  QmBuffer buffers[MOST];
  uint64_t state = seed, size, live;
  size_t n = (size_t) random_below (&state, MOST);
  int64_t moments = 1 + random_below (&state, 200);

  for (size_t i = 0; i < n; i++)
    {
      int64_t first = random_below (&state, moments);

      buffers[i] =
          (QmBuffer){ .id = (int32_t) i,
                      .bytes = 256 * random_below (&state, 50),
                      .first = first,
                      .last = first + random_below (&state, moments - first),
                      .offset = -1 };
    }
  CHECK_INT (qm_arena_lay_out (buffers, n, (size_t) moments, &size, &live,
                               NULL),
             QM_OK);
  CHECK (size >= live);
  CHECK ((double) size <= 1.3 * (double) live);
  CHECK_INT (conflicts (buffers, n, size), 0);
}

/* What has one size fits wherever something has ended: nothing is wasted. */
static void
test_one_size (uint64_t seed)
{
  enum
  {
    MOST = 200
  };
  QmBuffer buffers[MOST];
  uint64_t state = seed, size, live;
  size_t n = 1 + (size_t) random_below (&state, MOST);

  for (size_t i = 0; i < n; i++)
    {
      int64_t first = random_below (&state, 60);

      buffers[i] = (QmBuffer){ .id = (int32_t) i,
                               .bytes = 512,
                               .first = first,
                               .last = first + random_below (&state, 8) };
    }
  CHECK_INT (qm_arena_lay_out (buffers, n, 68, &size, &live, NULL), QM_OK);
  CHECK_INT ((int64_t) size, (int64_t) live);
  CHECK_INT (conflicts (buffers, n, size), 0);
}

/* As a training step has them: in each layer some that wait for the way back,
 * and some that do not; `late` of them wait for longer than their layer. */
static void
test_layers (int64_t layers, int64_t late)
{
  const int64_t per_layer = 8, moments = 2 * layers * per_layer;
  const size_t n = (size_t) (layers * per_layer * 2);
  QmBuffer *buffers = malloc (n * sizeof *buffers), *next = buffers;
  uint64_t state = 7, size, live;
  char name[64];

  snprintf (name, sizeof name, "%lld layers", (long long) layers);
  check_case (name);
  for (int64_t l = 0; l < layers; l++)
    for (int64_t i = 0; i < per_layer; i++)
      {
        int64_t t = l * per_layer + i, back = moments - 1 - t;

        *next++ = (QmBuffer){ .bytes = 256 * (1 + 3 * i),
                              .first = t,
                              .last = i % 2 == 0 ? back : t + 1 };
        *next++ = (QmBuffer){
          .bytes = 256 * (1 + random_below (&state, 30)),
          .first = back,
          .last = back + (l > late ? random_below (&state, 4 * late) : 0),
        };
      }
  CHECK_INT (qm_arena_lay_out (buffers, n, (size_t) moments, &size, &live,
                               NULL),
             QM_OK);
  CHECK (size >= live);
  CHECK ((double) size <= (layers < 100 ? 1.1 : 1.01) * (double) live);
  if (n < 20000)
    CHECK_INT (conflicts (buffers, n, size), 0);
  free (buffers);
}

int
main (void)
{
  check_case ("random");
  for (uint64_t seed = 1; seed <= 300; seed++)
    test_random (seed);
  check_case ("one size");
  for (uint64_t seed = 1; seed <= 100; seed++)
    test_one_size (seed);
  test_layers (1, 1);
  test_layers (12, 3);
  test_layers (600, 5);
  test_layers (8192, 5);
  return check_report ();
}
