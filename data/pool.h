/* SPDX-License-Identifier: Apache-2.0 */

/* Memory of a catalog: a pool that is freed at once, and lists of entries that
 * are found by key. */

#ifndef QM_DATA_POOL_H
#define QM_DATA_POOL_H

#include <stdbool.h>
#include <stddef.h>

/* Blocks that live as long as the pool.  Zeroed memory is an empty pool. */
typedef struct QmPool
{
  struct QmPoolBlock *blocks;
} QmPool;

/* Zeroed memory of the pool for any type, or NULL. */
void *qm_pool_alloc (QmPool *pool, size_t size);

/* A copy of a string, or NULL. */
const char *qm_pool_string (QmPool *pool, const char *text);

/* A formatted string, or NULL. */
const char *qm_pool_format (QmPool *pool, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Moves everything of `from` to `pool`. */
void qm_pool_take (QmPool *pool, QmPool *from);

/* Frees every block; the pool is empty then. */
void qm_pool_clear (QmPool *pool);

#define QM_LIST_NONE ((size_t) -1)

/* Entries of one size in the order in which they came, found by key. */
typedef struct QmList
{
  char *items;
  const char **keys;
  size_t n;
  size_t capacity;
  size_t item_size;
  size_t *slots; /* hash table of index + 1 */
  size_t n_slots;
} QmList;

/* Makes an empty list of entries of that size. */
void qm_list_init (QmList *list, size_t item_size);

/* Appends a zeroed entry; `key` must outlive the list and not be in it.
 * Returns the entry, valid until the next call, or NULL where memory is
 * out. */
void *qm_list_add (QmList *list, const char *key);

/* The index of the entry of that key, or QM_LIST_NONE. */
size_t qm_list_find (const QmList *list, const char *key);

/* The entry at an index, valid until the next one is added. */
void *qm_list_item (const QmList *list, size_t index);

/* Frees the list, not the keys. */
void qm_list_clear (QmList *list);

#endif
