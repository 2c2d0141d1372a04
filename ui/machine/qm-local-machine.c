/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-local-machine.h"

#include "ui/machine/qm-bench-log.h"
#include "ui/machine/qm-machine-text.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* Drivers of eight GPUs that wake up take their time. */
#define PATIENCE 90000

struct _QmLocalMachine
{
  GObject parent_instance;

  QmMachineState state;
  char *reason;
  GArray *devices;   /* QmMachineDevice */
  GPtrArray *answer; /* json_t: what their strings belong to */
  gboolean asking;
};

G_DEFINE_FINAL_TYPE (QmLocalMachine, qm_local_machine, G_TYPE_OBJECT)

static guint changed;

/* Small numbers, whatever qm-bench says. */
static int
count_of (const json_t *line, const char *name)
{
  return (int) CLAMP (qm_line_whole (line, name), -1, 1000000);
}

/* Has a line say what is the matter in the user's language. */
static void
translate (json_t *line)
{
  g_autofree char *trouble = qm_machine_text_trouble (line);

  json_object_set_new (line, "trouble", json_string (trouble));
}

static QmMachineDevice
read_device (const json_t *line)
{
  const json_t *nvlink = json_object_get (line, "nvlink");
  const json_t *usable = json_object_get (line, "usable");

  return (QmMachineDevice){
    .id = qm_line_text (line, "id"),
    .name = qm_line_text (line, "name"),
    .driver = qm_line_text (line, "driver"),
    .trouble = qm_line_text (line, "trouble"),
    .products = qm_line_text (line, "products"),
    .monitor = qm_line_text (line, "monitor"),
    .memory_bytes = qm_line_whole (line, "memory_bytes"),
    .free_bytes = qm_line_whole (line, "free_bytes"),
    .is_cpu = g_str_equal (qm_line_text (line, "id"), "cpu"),
    .usable = json_is_true (usable),
    .drives_display = json_is_true (json_object_get (line, "display")),
    .processors = count_of (line, "processors"),
    .pcie_generation = count_of (line, "pcie_generation_max"),
    .pcie_width = count_of (line, "pcie_width_max"),
    .nvlinks = nvlink != NULL ? count_of (nvlink, "links") : -1,
    .nvlink_gbs =
        nvlink != NULL ? qm_line_number (nvlink, "gbs_each_way") : NAN,
    .watts_limit = qm_line_number (line, "watts_limit"),
    .is_part = json_is_true (json_object_get (line, "mig")),
  };
}

/* GPUs first. */
static int
compare_devices (gconstpointer a, gconstpointer b)
{
  const QmMachineDevice *p = a;
  const QmMachineDevice *q = b;

  return p->is_cpu - q->is_cpu;
}

/* Why none of the GPUs can be used. */
static char *
find_reason (QmLocalMachine *self, const char *log)
{
  const char *trouble = NULL;

  for (guint i = 0; i < self->devices->len; i++)
    {
      const QmMachineDevice *device =
          &g_array_index (self->devices, QmMachineDevice, i);

      if (!device->is_cpu && device->usable)
        return g_strdup ("");
      if (!device->is_cpu && trouble == NULL)
        trouble = device->trouble;
    }
  if (trouble != NULL && *trouble != '\0')
    return g_strdup (trouble);
  for (guint i = 0; self->answer != NULL && i < self->answer->len; i++)
    {
      char *why = qm_machine_text_no_gpu (g_ptr_array_index (self->answer, i));

      if (why != NULL)
        return why;
    }
  return qm_bench_log_reason (log);
}

static void
machine_answered_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  g_autoptr (QmLocalMachine) self = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *log = NULL;
  g_autofree char *reason = NULL;
  GPtrArray *answer = qm_bench_query_finish (result, &log, &error);

  self->asking = FALSE;
  g_array_set_size (self->devices, 0);
  g_clear_pointer (&self->answer, g_ptr_array_unref);
  self->answer = answer;
  for (guint i = 0; answer != NULL && i < answer->len; i++)
    {
      QmMachineDevice device;

      translate (g_ptr_array_index (answer, i));
      device = read_device (g_ptr_array_index (answer, i));
      g_array_append_val (self->devices, device);
    }
  g_array_sort (self->devices, compare_devices);
  self->state = error == NULL ? QM_MACHINE_KNOWN : QM_MACHINE_FAILED;
  reason = error == NULL ? find_reason (self, log) : g_strdup (error->message);
  g_free (self->reason);
  self->reason = g_strdup (
      reason != NULL ? reason : _ ("There is no NVIDIA GPU in this machine."));
  g_signal_emit (self, changed, 0);
}

void
qm_local_machine_reload (QmLocalMachine *self)
{
  const char *arguments[] = { "devices", "--json", NULL };

  g_return_if_fail (QM_IS_LOCAL_MACHINE (self));

  if (self->asking)
    return;
  self->state = QM_MACHINE_ASKING;
  self->asking = TRUE;
  g_signal_emit (self, changed, 0);
  qm_bench_query_async (arguments, PATIENCE, NULL, machine_answered_cb,
                        g_object_ref (self));
}

QmMachineState
qm_local_machine_get_state (QmLocalMachine *self)
{
  g_return_val_if_fail (QM_IS_LOCAL_MACHINE (self), QM_MACHINE_FAILED);

  return self->state;
}

const char *
qm_local_machine_get_reason (QmLocalMachine *self)
{
  g_return_val_if_fail (QM_IS_LOCAL_MACHINE (self), NULL);

  return self->reason;
}

const QmMachineDevice *
qm_local_machine_get_devices (QmLocalMachine *self, guint *n)
{
  g_return_val_if_fail (QM_IS_LOCAL_MACHINE (self), NULL);

  *n = self->devices->len;
  return (const QmMachineDevice *) (gconstpointer) self->devices->data;
}

const QmMachineDevice *
qm_local_machine_get_device (QmLocalMachine *self, const char *id)
{
  g_return_val_if_fail (QM_IS_LOCAL_MACHINE (self), NULL);

  for (guint i = 0; i < self->devices->len; i++)
    {
      const QmMachineDevice *device =
          &g_array_index (self->devices, QmMachineDevice, i);

      if (g_strcmp0 (device->id, id) == 0)
        return device;
    }
  return NULL;
}

QmLocalMachine *
qm_local_machine_new (void)
{
  return g_object_new (QM_TYPE_LOCAL_MACHINE, NULL);
}

static void
qm_local_machine_finalize (GObject *object)
{
  QmLocalMachine *self = QM_LOCAL_MACHINE (object);

  g_free (self->reason);
  g_array_unref (self->devices);
  g_clear_pointer (&self->answer, g_ptr_array_unref);
  G_OBJECT_CLASS (qm_local_machine_parent_class)->finalize (object);
}

static void
qm_local_machine_class_init (QmLocalMachineClass *class)
{
  G_OBJECT_CLASS (class)->finalize = qm_local_machine_finalize;
  changed =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
qm_local_machine_init (QmLocalMachine *self)
{
  self->devices = g_array_new (FALSE, TRUE, sizeof (QmMachineDevice));
  self->reason = g_strdup ("");
}
