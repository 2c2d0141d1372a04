/* SPDX-License-Identifier: Apache-2.0 */

/* Which models a search is about. */

#include "app/qm-bench-search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static QmStatus
add_searched_model (QmBenchSearch *search,
                    const char *name,
                    const QmModelConfig *config,
                    const QmRecipe *recipe,
                    QmError *error)
{
  QmBenchSearched *grown =
      realloc (search->models, (search->n_models + 1) * sizeof *search->models);
  QmBenchSearched *model;

  if (grown == NULL)
    return qm_error_no_memory (error);
  search->models = grown;
  model = &grown[search->n_models++];
  *model = (QmBenchSearched){ .config = *config, .recipe = *recipe };
  snprintf (model->name, sizeof model->name, "%s", name);
  qm_model_key (config, recipe, model->key);
  return QM_OK;
}

/* One of the models of a list of ids, of which *list is moved behind it. */
static QmStatus
load_listed (QmBenchSearch *search, const char **list, QmError *error)
{
  QmBenchOptions one = *search->options;
  size_t length = strcspn (*list, ",");
  char id[128];
  QmBenchModel model;
  QmStatus status;

  snprintf (id, sizeof id, "%.*s", (int) length, *list);
  *list += length + ((*list)[length] == ',');
  one.model = id;
  status = qm_bench_load_model (&one, true, &model, error);
  if (status != QM_OK)
    return status;
  for (size_t i = 0; i < search->n_models; i++)
    if (strcmp (search->models[i].name, model.name) == 0)
      status = qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                             "--model names %s twice", model.name);
  if (status == QM_OK)
    status = add_searched_model (search, model.name, &model.config,
                                 &model.recipe, error);
  qm_bench_clear_model (&model);
  return status;
}

QmStatus
qm_bench_load_models (QmBenchSearch *search, QmError *error)
{
  const QmBenchOptions *options = search->options;
  QmBenchModel one;
  const QmModel *all;
  size_t n;
  QmStatus status;

  if (options->model != NULL && strcmp (options->model, "all") == 0
      && options->config == NULL)
    {
      status = qm_bench_load_catalog (&search->catalog, error);
      all = status == QM_OK ? qm_catalog_models (search->catalog, &n) : NULL;
      for (size_t i = 0; status == QM_OK && i < n; i++)
        status = add_searched_model (search, all[i].id, &all[i].config,
                                     &all[i].recipe, error);
      return status;
    }
  if (options->model != NULL && options->config == NULL
      && strchr (options->model, ',') != NULL)
    {
      const char *list = options->model;

      status = qm_bench_load_catalog (&search->catalog, error);
      while (status == QM_OK && *list != '\0')
        status = load_listed (search, &list, error);
      return status;
    }
  status = qm_bench_load_model (options, true, &one, error);
  if (status != QM_OK)
    return status;
  status =
      add_searched_model (search, one.name, &one.config, &one.recipe, error);
  search->catalog = one.catalog;
  if (search->catalog == NULL)
    /* Without the catalog only shares of peaks are not known. */
    qm_bench_load_catalog (&search->catalog, NULL);
  return status;
}
