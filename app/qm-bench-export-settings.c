/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench-export.h"
#include "data/family.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Elements that DeepSpeed reduces and gathers at a time.  The smaller ones are
 * what ZeRO 2 needs for its buckets to fit besides the activations. */
#define BUCKET_STAGE_1 500000000
#define BUCKET_OTHERS  200000000

/* Steps without an overflow until the loss scale grows, and the power of two
 * that it begins with, as torch.amp.GradScaler has them. */
#define SCALE_WINDOW 2000
#define SCALE_POWER  16

static void __attribute__ ((format (printf, 2, 3)))
add_note (json_t *notes, const char *format, ...)
{
  char text[512];
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (text, sizeof text, format, arguments);
  va_end (arguments);
  json_array_append_new (notes, json_string (text));
}

static void
add_text (json_t *object, const char *name, const char *value)
{
  json_object_set_new (object, name, json_string (value));
}

static void
add_whole (json_t *object, const char *name, int64_t value)
{
  json_object_set_new (object, name, json_integer ((json_int_t) value));
}

static void
add_setting_number (json_t *object, const char *name, double value)
{
  json_object_set_new (object, name, json_real (value));
}

static void
add_switch (json_t *object, const char *name, bool value)
{
  json_object_set_new (object, name, json_boolean (value));
}

static bool
is_zero (const QmExport *s)
{
  return s->sharding == QM_SHARDING_ZERO_1 || s->sharding == QM_SHARDING_ZERO_2
         || s->sharding == QM_SHARDING_ZERO_3;
}

static bool
is_fsdp (const QmExport *s)
{
  return s->sharding == QM_SHARDING_FSDP_2 || s->sharding == QM_SHARDING_FSDP_3;
}

static int
zero_stage (const QmExport *s)
{
  switch (s->sharding)
    {
    case QM_SHARDING_ZERO_1:
      return 1;
    case QM_SHARDING_ZERO_2:
      return 2;
    case QM_SHARDING_ZERO_3:
      return 3;
    case QM_SHARDING_NONE:
    case QM_SHARDING_FSDP_2:
    case QM_SHARDING_FSDP_3:
      break;
    }
  return 0;
}

const char *
qm_export_block_class (QmFamily family)
{
  return qm_family_info (family)->block;
}

static bool
has_attention (const QmExport *s)
{
  return qm_family_info (s->config->family)->has_attention;
}

/* What has to be right in the program that is told these settings. */
static void
add_notes_of_model (const QmExport *s, json_t *notes)
{
  bool kernels = (s->methods & QM_METHOD_KERNELS) != 0;
  int64_t batch = s->gpus * s->micro_batch * s->accumulation;

  if (has_attention (s))
    add_note (notes, "make the model with attn_implementation=\"%s\"",
              kernels ? "sdpa" : "eager");
  if (kernels && s->config->family == QM_FAMILY_MAMBA)
    add_note (notes, "install mamba-ssm and causal-conv1d, without which the "
                     "scan goes token by token");
  if (kernels && s->config->family == QM_FAMILY_MAMBA2)
    add_note (notes, "install mamba-ssm and causal-conv1d, without which the "
                     "scan keeps products of whole chunks in memory");
  if (s->recipe->sequence_length > 0)
    add_note (notes, "a sample is %lld tokens",
              (long long) s->recipe->sequence_length);
  else
    add_note (notes, "a sample is an image of %lld x %lld pixels",
              (long long) s->recipe->image_size,
              (long long) s->recipe->image_size);
  if (s->config->family == QM_FAMILY_VIT_MAE)
    add_note (notes,
              "a new model of Transformers 5.23 has zeros where positions "
              "of patches should be: take those of weights that are "
              "there, as qm-bench train writes them");
  if (isfinite (s->recipe->dropout))
    add_note (notes,
              "the dropout of hidden states in the model's "
              "configuration has to be %g",
              s->recipe->dropout);
  if (s->recipe->z_loss > 0)
    add_note (notes,
              "the recipe has a z-loss, which models of Transformers do not: "
              "add %g times the mean of logsumexp(logits)^2 to the loss",
              s->recipe->z_loss);
  if (s->recipe->ema_decay > 0)
    add_note (notes,
              "the recipe has an average of weights, which these settings do "
              "not: after every update, add %g times (weights - average) to it",
              1 - s->recipe->ema_decay);
  if (batch != s->recipe->batch_size)
    add_note (notes, "a step is %lld samples, the recipe says %lld",
              (long long) batch, (long long) s->recipe->batch_size);
}

static json_t *
offload_section (void)
{
  json_t *object = json_object ();

  add_text (object, "device", "cpu");
  add_switch (object, "pin_memory", true);
  return object;
}

static json_t *
zero_section (const QmExport *s)
{
  int stage = zero_stage (s);
  int64_t bucket = stage == 1 ? BUCKET_STAGE_1 : BUCKET_OTHERS;
  json_t *object = json_object ();

  add_whole (object, "stage", stage);
  if (stage == 0)
    return object;
  if (s->offloading)
    json_object_set_new (object, "offload_optimizer", offload_section ());
  if (s->offloading && stage == 3)
    json_object_set_new (object, "offload_param", offload_section ());
  add_switch (object, "contiguous_gradients", true);
  add_switch (object, "overlap_comm", stage > 1);
  add_whole (object, "reduce_bucket_size", bucket);
  if (stage < 3)
    {
      add_switch (object, "reduce_scatter", true);
      add_switch (object, "allgather_partitions", true);
      add_whole (object, "allgather_bucket_size", bucket);
      return object;
    }
  add_whole (object, "sub_group_size", 1000000000);
  add_whole (object, "stage3_prefetch_bucket_size", 50000000);
  add_whole (object, "stage3_param_persistence_threshold", 100000);
  add_whole (object, "stage3_max_live_parameters", 1000000000);
  add_whole (object, "stage3_max_reuse_distance", 1000000000);
  add_switch (object, "stage3_gather_16bit_weights_on_model_save", true);
  return object;
}

static json_t *
optimizer_section (const QmRecipe *recipe)
{
  bool decoupled = recipe->optimizer == QM_OPTIMIZER_ADAMW;
  json_t *object = json_object (), *parameters = json_object ();
  json_t *betas = json_array ();

  json_array_append_new (betas, json_real (recipe->beta1));
  json_array_append_new (betas, json_real (recipe->beta2));
  add_setting_number (parameters, "lr", recipe->learning_rate);
  json_object_set_new (parameters, "betas", betas);
  add_setting_number (parameters, "eps", recipe->epsilon);
  add_setting_number (parameters, "weight_decay", recipe->weight_decay);
  if (!decoupled)
    add_switch (parameters, "adam_w_mode", false);
  add_text (object, "type", decoupled ? "AdamW" : "Adam");
  json_object_set_new (object, "params", parameters);
  return object;
}

static void
add_precision (json_t *object, QmPrecision precision)
{
  json_t *fp16 = json_object (), *bf16 = json_object ();

  add_switch (fp16, "enabled", precision == QM_PRECISION_FP16);
  if (precision == QM_PRECISION_FP16)
    {
      add_setting_number (fp16, "loss_scale", 0);
      add_whole (fp16, "initial_scale_power", SCALE_POWER);
      add_whole (fp16, "loss_scale_window", SCALE_WINDOW);
      add_whole (fp16, "hysteresis", 1);
      add_setting_number (fp16, "min_loss_scale", 1);
    }
  add_switch (bf16, "enabled", precision == QM_PRECISION_BF16);
  json_object_set_new (object, "fp16", fp16);
  json_object_set_new (object, "bf16", bf16);
}

static json_t *
deepspeed_config (const QmExport *s)
{
  json_t *object = json_object ();

  add_whole (object, "train_micro_batch_size_per_gpu", s->micro_batch);
  add_whole (object, "gradient_accumulation_steps", s->accumulation);
  add_setting_number (object, "gradient_clipping", s->recipe->max_grad_norm);
  json_object_set_new (object, "optimizer", optimizer_section (s->recipe));
  json_object_set_new (object, "zero_optimization", zero_section (s));
  add_precision (object, s->recipe->precision);
  return object;
}

json_t *
qm_export_deepspeed (const QmExport *s, json_t *notes)
{
  add_notes_of_model (s, notes);
  if ((s->methods & QM_METHOD_TF32) != 0)
    add_note (notes, "set torch.backends.cuda.matmul.allow_tf32 and "
                     "torch.backends.cudnn.allow_tf32 to True");
  if (s->checkpoint)
    add_note (notes, "call model.gradient_checkpointing_enable()");
  if ((s->methods & QM_METHOD_COMPILE) != 0)
    add_note (notes,
              s->sharding == QM_SHARDING_ZERO_3
                  ? "torch.compile is left out: it does not go together "
                    "with the hooks of ZeRO 3"
                  : "call engine.compile() after deepspeed.initialize()");
  if (is_fsdp (s))
    add_note (notes, "the way of sharding is FSDP, which is no part of "
                     "DeepSpeed: this is stage 0");
  add_note (notes, "train for %lld steps", (long long) s->recipe->steps);
  if (s->nodes > 1)
    add_note (notes,
              "start it with deepspeed --num_nodes %lld --num_gpus %lld, and a "
              "--hostfile that names the machines",
              (long long) s->nodes, (long long) (s->gpus / s->nodes));
  else
    add_note (notes, "start it with deepspeed --num_gpus %lld",
              (long long) s->gpus);
  return deepspeed_config (s);
}

static void
add_fsdp (json_t *object, const QmExport *s)
{
  json_t *config = json_object (), *classes = json_array ();

  json_array_append_new (classes, json_string (qm_export_block_class (
                                      s->config->family)));
  add_whole (config, "version", 2);
  add_switch (config, "reshard_after_forward",
              s->sharding == QM_SHARDING_FSDP_3);
  add_switch (config, "cpu_offload", s->offloading);
  add_text (config, "auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
  json_object_set_new (config, "transformer_layer_cls_to_wrap", classes);
  if (s->checkpoint)
    add_switch (config, "activation_checkpointing", true);
  add_switch (object, "fsdp", true);
  json_object_set_new (object, "fsdp_config", config);
  /* The norm of gradients in the memory of the host is summed over ranks there,
   * which NCCL cannot; Accelerate has that by itself where it is started by its
   * own launcher, and not by torchrun. */
  if (s->offloading)
    add_text (object, "ddp_backend", "cuda:nccl,cpu:gloo");
}

static void
add_optimizer (json_t *object, const QmExport *s, json_t *notes)
{
  const QmRecipe *recipe = s->recipe;
  bool fused =
      (s->methods & QM_METHOD_KERNELS) != 0 && s->sharding == QM_SHARDING_NONE;

  add_text (object, "optim", fused ? "adamw_torch_fused" : "adamw_torch");
  add_setting_number (object, "learning_rate", recipe->learning_rate);
  add_setting_number (object, "adam_beta1", recipe->beta1);
  add_setting_number (object, "adam_beta2", recipe->beta2);
  add_setting_number (object, "adam_epsilon", recipe->epsilon);
  add_setting_number (object, "weight_decay", recipe->weight_decay);
  add_setting_number (object, "max_grad_norm", recipe->max_grad_norm);
  add_note (notes, "the recipe has no schedule of the learning rate; "
                   "lr_scheduler_type and warmup_steps are yours");
  if (recipe->optimizer == QM_OPTIMIZER_ADAM && !is_zero (s))
    add_note (notes, "the recipe adds the weight decay to the gradient (Adam); "
                     "Transformers has AdamW alone: for the same, give the "
                     "Trainer optimizers=(torch.optim.Adam(...), None)");
}

static void
add_compilation (json_t *object, const QmExport *s, json_t *notes)
{
  bool asked = (s->methods & QM_METHOD_COMPILE) != 0;
  bool mamba = s->config->family == QM_FAMILY_MAMBA;

  add_switch (object, "torch_compile", asked && !mamba && !is_zero (s));
  if (asked && mamba)
    add_note (notes, "torch_compile is left out: without mamba-ssm the scan is "
                     "a loop over all tokens, which takes hours to compile");
  else if (asked && is_zero (s))
    add_note (notes, "torch_compile is left out: DeepSpeed compiles by its "
                     "engine's compile(), ZeRO 1 and 2 alone");
}

static void
add_checkpointing (json_t *object, const QmExport *s, json_t *notes)
{
  json_t *arguments;

  /* FSDP has its own, in its configuration. */
  if (s->checkpoint && is_fsdp (s))
    return;
  add_switch (object, "gradient_checkpointing", s->checkpoint);
  if (!s->checkpoint)
    return;
  arguments = json_object ();
  add_switch (arguments, "use_reentrant", false);
  json_object_set_new (object, "gradient_checkpointing_kwargs", arguments);
  if (s->config->family == QM_FAMILY_CONVNEXT)
    add_note (notes, "Transformers has no checkpointing for ConvNeXt: leave "
                     "gradient_checkpointing out and wrap the stages in "
                     "torch.utils.checkpoint");
}

json_t *
qm_export_transformers (const QmExport *s, json_t *notes)
{
  json_t *object = json_object ();

  add_text (object, "output_dir", s->name);
  add_whole (object, "per_device_train_batch_size", s->micro_batch);
  add_whole (object, "gradient_accumulation_steps", s->accumulation);
  add_whole (object, "max_steps", s->recipe->steps);
  add_switch (object, "fp16", s->recipe->precision == QM_PRECISION_FP16);
  add_switch (object, "bf16", s->recipe->precision == QM_PRECISION_BF16);
  add_switch (object, "tf32", (s->methods & QM_METHOD_TF32) != 0);
  add_notes_of_model (s, notes);
  add_compilation (object, s, notes);
  add_checkpointing (object, s, notes);
  add_optimizer (object, s, notes);
  if (is_zero (s))
    json_object_set_new (object, "deepspeed", deepspeed_config (s));
  if (is_fsdp (s))
    {
      add_fsdp (object, s);
      add_note (notes, "fsdp_config is that of Transformers 5.17 or newer");
    }
  if (s->nodes > 1)
    add_note (notes,
              "start it on each machine with torchrun --nnodes %lld "
              "--nproc-per-node %lld --rdzv-backend c10d --rdzv-endpoint "
              "HOST:PORT, of the first of them",
              (long long) s->nodes, (long long) (s->gpus / s->nodes));
  else if (s->sharding != QM_SHARDING_NONE || s->gpus > 1)
    add_note (notes, "start it with torchrun --nproc-per-node %lld",
              (long long) s->gpus);
  return object;
}
