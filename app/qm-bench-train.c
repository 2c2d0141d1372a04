/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench train. */

#include "app/qm-bench.h"

#include "app/qm-bench-events.h"
#include "app/qm-bench-nodes.h"
#include "app/qm-bench-ranks.h"
#include "data/text.h"
#include "engine/train.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* To whom steps are told. */
typedef struct Listener
{
  const QmBenchOptions *options;
  QmBenchEvents *events; /* NULL: nobody wants to hear of them */
} Listener;

static json_t *
json_step (const QmTrainStep *step)
{
  json_t *object = json_pack ("{s:I}", "step", (json_int_t) step->number);

  qm_bench_json_number (object, "loss", step->loss);
  qm_bench_json_number (object, "learning_rate", step->learning_rate);
  qm_bench_json_number (object, "gradient_norm", step->norm);
  qm_bench_json_number (object, "loss_scale", step->loss_scale);
  json_object_set_new (object, "skipped", json_boolean (step->skipped));
  qm_bench_json_number (object, "seconds", step->seconds);
  return object;
}

static bool
on_step (void *data, const QmTrainStep *step)
{
  const Listener *listener = data;

  if (listener->events != NULL)
    qm_bench_events_say (listener->events, "step", json_step (step));
  else if (listener->options->json)
    qm_bench_print_json (json_step (step));
  else
    printf ("step %lld  loss %.4f  %.3f s%s\n", (long long) step->number,
            step->loss, step->seconds,
            !step->skipped         ? ""
            : step->loss_scale > 1 ? "  skipped: the loss scale was too large"
                                   : "  skipped: its gradients are not finite");
  fflush (stdout);
  return !qm_bench_interrupted ();
}

/* Takes what the command line says instead of the recipe. */
static QmStatus
override_recipe (const QmBenchOptions *options,
                 QmRecipe *recipe,
                 QmError *error)
{
  double number;

  if (options->learning_rate != NULL)
    {
      if (!qm_number_parse (options->learning_rate, &number) || number < 0
          || number > QM_RECIPE_MAX_LEARNING_RATE)
        return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                             "--learning-rate is a number as 0.001, up to %g",
                             (double) QM_RECIPE_MAX_LEARNING_RATE);
      recipe->learning_rate = number;
    }
  if (options->batch_size != NULL)
    {
      if (!qm_number_parse (options->batch_size, &number) || number < 1
          || number > 1e6 || number != floor (number))
        return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                             "--batch-size is a whole number");
      recipe->batch_size = (int64_t) number;
    }
  return QM_OK;
}

static QmStatus
read_schedule (const QmBenchOptions *options,
               QmTrainOptions *training,
               QmError *error)
{
  if (options->schedule == NULL
      || qm_schedule_parse (options->schedule, &training->schedule))
    return QM_OK;
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "--schedule: '%.32s' is not constant, linear or cosine",
                       options->schedule);
}

static QmStatus
read_mask_token (const QmBenchOptions *options,
                 int64_t vocab,
                 QmSamples *samples,
                 QmError *error)
{
  double number = (double) (vocab - 1);

  if (options->mask_token != NULL
      && (!qm_number_parse (options->mask_token, &number) || number < 0
          || number >= (double) vocab || number != floor (number)))
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--mask-token is a whole number below %lld, the size "
                         "of the vocabulary",
                         (long long) vocab);
  samples->mask_token = (int32_t) number;
  samples->seed = (uint64_t) options->seed;
  return QM_OK;
}

static QmStatus
open_samples (const QmBenchOptions *options,
              const QmBenchModel *model,
              const QmPlan *plan,
              QmSamples *samples,
              QmError *error)
{
  int64_t vocab = qm_graph_tensor (plan->graph, plan->graph->logits)->shape[1];
  bool images = plan->graph->pixels != QM_NO_VALUE;
  QmStatus status;

  if (images != (options->images != NULL))
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "a %s model learns from %s",
                         qm_family_name (model->config.family),
                         images ? "--images" : "--text or --tokens");
  if (images)
    return qm_samples_open_images (options->images, plan, samples, error);
  status =
      qm_samples_read_tokens (options->text != NULL ? options->text
                                                    : options->tokens,
                              options->text == NULL, vocab,
                              model->recipe.sequence_length, samples, error);
  if (status == QM_OK)
    status = read_mask_token (options, vocab, samples, error);
  return status;
}

/* What one device has of a training. */
typedef struct Rank
{
  QmDevice *device;
  QmCommunicator *communicator;
  QmPlan *plan;
  QmSamples samples;
} Rank;

/* A training on all of its devices. */
typedef struct Training
{
  const QmBenchOptions *options;
  const QmBenchModel *model;
  QmBenchEvents *events;
  QmTrainOptions training;
  QmWorld *world; /* NULL: there is one device */
  int first;      /* of this process */
  char ids[QM_BENCH_MOST_RANKS][32];
  Rank ranks[QM_BENCH_MOST_RANKS];
  char part[PATH_MAX]; /* what is written until it is whole */
} Training;

static bool
on_other_step (void *data, const QmTrainStep *step)
{
  return true;
}

static QmStatus
prepare_rank (const Training *t, int number, Rank *rank, QmError *error)
{
  QmBenchOptions options = *t->options;
  QmTransport transport =
      options.no_peer ? QM_TRANSPORT_HOST : QM_TRANSPORT_AUTO;
  QmStatus status;

  if (t->world != NULL)
    options.device = t->ids[number];
  status = qm_bench_open_device (&options, &rank->device, error);
  if (status == QM_OK && t->world != NULL)
    status = qm_communicator_new (t->world, t->first + number, rank->device,
                                  transport, &rank->communicator, error);
  if (status == QM_OK)
    status = qm_bench_plan_rank (&options, t->model, rank->device,
                                 rank->communicator, &rank->plan, error);
  return status == QM_OK ? open_samples (&options, t->model, rank->plan,
                                         &rank->samples, error)
                         : status;
}

/* The first tells the steps and writes the weights. */
static QmStatus
train_rank (void *data, int number, QmError *error)
{
  Training *t = data;
  QmTrainOptions training = t->training;
  Rank *rank = &t->ranks[number];
  bool tells = t->first + number == 0;
  QmStatus status = prepare_rank (t, number, rank, error);

  if (!tells)
    training.step = on_other_step;
  training.communicator = rank->communicator;
  if (status == QM_OK && tells && t->options->out != NULL)
    qm_bench_remove_if_killed (t->part);
  if (status == QM_OK && tells)
    qm_bench_events_open (t->events, qm_device_info (rank->device));
  return status == QM_OK ? qm_train (rank->plan, rank->device, &rank->samples,
                                     &training, error)
                         : status;
}

static void
end_rank (void *data, int number)
{
  Rank *rank = &((Training *) data)->ranks[number];

  qm_communicator_free (rank->communicator);
  qm_samples_clear (&rank->samples);
  qm_plan_free (rank->plan);
  qm_device_close (rank->device);
}

static QmStatus
train (const QmBenchOptions *options,
       QmBenchModel *model,
       QmBenchEvents *events,
       QmError *error)
{
  Listener listener = { options, events };
  Training t = { .options = options,
                 .model = model,
                 .events = events,
                 .training = { .steps = options->steps,
                               .warm_up = options->warm_up,
                               .seed = (uint64_t) options->seed,
                               .weights = options->weights,
                               .out = options->out,
                               .averaged = options->averaged,
                               .step = on_step,
                               .data = &listener } };
  int local = 1, total = 1;
  QmStatus status = override_recipe (options, &model->recipe, error);

  if (status == QM_OK && options->averaged
      && (options->out == NULL || model->recipe.ema_decay <= 0))
    status =
        qm_error_set (error, QM_STATUS_USAGE, "", 0, 0, "--averaged needs %s",
                      options->out == NULL
                          ? "--out"
                          : "a recipe with ema_decay, of which the "
                            "average of weights is");
  if (status == QM_OK)
    status = read_schedule (options, &t.training, error);
  if (status == QM_OK && options->out != NULL && !qm_bench_follows (options))
    status = qm_bench_check_out (options->out, t.part, sizeof t.part, error);
  if (status == QM_OK)
    status = qm_bench_read_total (options, &local, &total, error);
  if (status == QM_OK)
    status = qm_bench_check_peers (options, total, error);
  t.first = local * options->nodes.self;
  if (status == QM_OK && total > 1)
    status = qm_bench_rank_devices (options, local, t.ids, error);
  if (status == QM_OK && total > 1)
    status = qm_bench_join (options, model, local, 0, &t.world, error);
  if (status == QM_OK)
    status = qm_bench_ranks_do (t.first, local, t.world, train_rank, end_rank,
                                &t, error);
  qm_bench_remove_if_killed (NULL);
  if (status == QM_OK)
    qm_bench_events_end (events, NULL);
  qm_world_free (t.world);
  return status;
}

int
qm_bench_train (const QmBenchOptions *options)
{
  QmBenchModel model;
  QmError error = { 0 };
  QmStatus status;

  if ((options->text != NULL) + (options->tokens != NULL)
          + (options->images != NULL)
      != 1)
    {
      fprintf (stderr, "qm-bench: train needs one of --text, --tokens and "
                       "--images\n");
      return QM_BENCH_USAGE;
    }
  status = qm_bench_load_model (options, true, &model, &error);
  if (status == QM_OK)
    {
      QmBenchEvents *events = options->events ? qm_bench_events_new () : NULL;

      status = train (options, &model, events, &error);
      if (status != QM_OK)
        qm_bench_events_error (events, &error, NULL);
      qm_bench_events_free (events);
      qm_bench_clear_model (&model);
    }
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
