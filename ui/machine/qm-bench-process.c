/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-bench-process.h"

#include "ui/machine/qm-bench-log.h"

#include <fcntl.h>
#include <glib-unix.h>
#include <glib/gi18n-lib.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CHUNK 32768

/* Lines in one iteration of the main loop. */
#define MAX_AT_ONCE 64

/* Milliseconds in which the rest of its output is read once it has ended: what
 * it started may have got away with the pipe. */
#define DRAIN 1000

struct _QmBenchProcess
{
  GObject parent_instance;

  GStrv arguments;
  guint patience;
  guint mercy;

  GSubprocess *child;
  pid_t pid;
  GCancellable *reading;
  GByteArray *text; /* of its standard output, not yet taken apart */
  gsize taken;      /* of that */
  GString *words;   /* the last ones of its standard error */
  gboolean cut;     /* there were more */
  gint64 heard;     /* monotonic time of the last line */

  guint timer; /* of what happens next without a word */
  guint again; /* lines are left */
  gboolean running;
  gboolean exited;
  gboolean wanted; /* its owner asked it to stop */
  int step;        /* of stopping: signals that were sent */
  gboolean out_open, err_open;
  GError *error; /* the first one */
};

G_DEFINE_FINAL_TYPE (QmBenchProcess, qm_bench_process, G_TYPE_OBJECT)

G_DEFINE_QUARK (qm - bench - error - quark, qm_bench_error)

enum
{
  PROP_0,
  PROP_RUNNING,
  PROP_PATIENCE,
  PROP_MERCY,
  N_PROPS
};

enum
{
  LINE,
  ENDED,
  N_SIGNALS
};

static GParamSpec *properties[N_PROPS];
static guint signals[N_SIGNALS];

static void read_output (QmBenchProcess *self);
static void take_line (QmBenchProcess *self, const char *line, gsize length);
static void stop_step (QmBenchProcess *self);

char *
qm_bench_find (void)
{
  const char *said = g_getenv ("QUARTERMASTER_BENCH");
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = NULL;
  g_autofree char *beside = NULL;

  if (said != NULL && *said != '\0')
    return g_strdup (said);
  if (program != NULL)
    {
      folder = g_path_get_dirname (program);
      beside = g_build_filename (folder, "qm-bench", NULL);
      if (g_file_test (beside, G_FILE_TEST_IS_EXECUTABLE))
        return g_steal_pointer (&beside);
    }
  return g_find_program_in_path ("qm-bench");
}

/* Keeps the first error: what follows comes from it. */
static void
fail (QmBenchProcess *self, QmBenchError code, const char *sentence)
{
  if (self->error == NULL)
    self->error = g_error_new_literal (QM_BENCH_ERROR, (int) code, sentence);
}

static void
set_timer (QmBenchProcess *self, guint milliseconds, GSourceFunc func)
{
  g_clear_handle_id (&self->timer, g_source_remove);
  self->timer = g_timeout_add (milliseconds, func, self);
}

static void
kill_group (QmBenchProcess *self)
{
  if (self->pid > 0)
    kill (-self->pid, SIGKILL);
}

/* Says how it ended, where nothing is known to have gone wrong before. */
static void
judge (QmBenchProcess *self)
{
  g_autofree char *log = qm_bench_process_get_log (self);
  g_autofree char *sentence = NULL;
  QmBenchError code;
  int status;

  if (self->error != NULL || self->wanted)
    return;
  if (g_subprocess_get_if_signaled (self->child))
    sentence =
        qm_bench_log_signal (g_subprocess_get_term_sig (self->child), &code);
  else if ((status = g_subprocess_get_exit_status (self->child)) != 0)
    sentence = qm_bench_log_status (status, log, &code);
  if (sentence != NULL)
    fail (self, code, sentence);
}

/* What is left at its end is a line, too, unless it was broken off. */
static void
take_rest (QmBenchProcess *self)
{
  if (self->text->len > 0 && self->error == NULL && !self->wanted)
    take_line (self, (const char *) self->text->data, self->text->len);
  g_byte_array_set_size (self->text, 0);
}

/* Ended, and read to the end. */
static void
conclude (QmBenchProcess *self)
{
  if (!self->running || !self->exited || self->out_open || self->err_open)
    return;
  judge (self);
  take_rest (self);
  g_clear_handle_id (&self->timer, g_source_remove);
  self->running = FALSE;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_RUNNING]);
  g_signal_emit (self, signals[ENDED], 0, self->wanted ? NULL : self->error);
  g_object_unref (self);
}

static gboolean
drained_cb (gpointer data)
{
  QmBenchProcess *self = data;

  self->timer = 0;
  g_cancellable_cancel (self->reading);
  return G_SOURCE_REMOVE;
}

static gboolean
mercy_cb (gpointer data)
{
  QmBenchProcess *self = data;

  self->timer = 0;
  stop_step (self);
  return G_SOURCE_REMOVE;
}

/* The next way to stop it, and the time that it has for that. */
static void
stop_step (QmBenchProcess *self)
{
  if (self->exited)
    return;
  switch (self->step++)
    {
    case 0:
      g_subprocess_send_signal (self->child, SIGINT);
      break;
    case 1:
      g_subprocess_send_signal (self->child, SIGTERM);
      break;
    default:
      kill_group (self);
      return;
    }
  set_timer (self, self->mercy, mercy_cb);
}

static void
give_up (QmBenchProcess *self)
{
  if (self->step == 0)
    stop_step (self);
}

/* Whether something was said that the main loop had no time for. */
static gboolean
is_waiting (QmBenchProcess *self)
{
  GInputStream *out = g_subprocess_get_stdout_pipe (self->child);

  return self->again != 0
         || (self->out_open
             && g_pollable_input_stream_is_readable (
                 G_POLLABLE_INPUT_STREAM (out)));
}

static gboolean
silence_cb (gpointer data)
{
  QmBenchProcess *self = data;
  gint64 silent = (g_get_monotonic_time () - self->heard) / 1000;
  g_autofree char *sentence = NULL;

  self->timer = 0;
  if (silent < self->patience)
    {
      set_timer (self, (guint) (self->patience - silent), silence_cb);
      return G_SOURCE_REMOVE;
    }
  /* The window may have been busy; a line that never ends is found by its
   * length. */
  if (is_waiting (self))
    {
      set_timer (self, 100, silence_cb);
      return G_SOURCE_REMOVE;
    }
  sentence = g_strdup_printf (
      /* Translators: seconds. */
      _ ("The benchmark said nothing for %d s and was given up."),
      (int) (silent + 500) / 1000);
  fail (self, QM_BENCH_ERROR_SILENT, sentence);
  give_up (self);
  return G_SOURCE_REMOVE;
}

static void
take_line (QmBenchProcess *self, const char *line, gsize length)
{
  json_t *object;

  self->heard = g_get_monotonic_time ();
  /* What it says after it was given up may be wrong in any way. */
  if (self->error != NULL)
    return;
  object = json_loadb (line, length, JSON_REJECT_DUPLICATES, NULL);
  if (json_is_object (object))
    g_signal_emit (self, signals[LINE], 0, object);
  else
    {
      fail (self, QM_BENCH_ERROR_GARBAGE,
            _ ("The benchmark said something that cannot be understood, and "
               "was ended."));
      give_up (self);
    }
  json_decref (object);
}

/* Throws away what has been taken apart. */
static void
compact (QmBenchProcess *self)
{
  if (self->taken > 0)
    g_byte_array_remove_range (self->text, 0, (guint) self->taken);
  self->taken = 0;
}

static gboolean
again_cb (gpointer data)
{
  QmBenchProcess *self = data;

  self->again = 0;
  read_output (self);
  return G_SOURCE_REMOVE;
}

/* Takes apart what is there; FALSE where lines are left for later. */
static gboolean
take_lines (QmBenchProcess *self)
{
  for (int i = 0; i < MAX_AT_ONCE; i++)
    {
      const char *begin = (const char *) self->text->data + self->taken;
      gsize left = self->text->len - self->taken;
      const char *end = left > 0 ? memchr (begin, '\n', left) : NULL;

      if (end == NULL && left > QM_BENCH_MAX_LINE)
        {
          fail (self, QM_BENCH_ERROR_GARBAGE,
                _ ("The benchmark said a line that is too long, and was "
                   "ended."));
          g_byte_array_set_size (self->text, 0);
          self->taken = 0;
          give_up (self);
          return TRUE;
        }
      if (end == NULL)
        {
          compact (self);
          return TRUE;
        }
      self->taken += (gsize) (end - begin) + 1;
      take_line (self, begin, (gsize) (end - begin));
    }
  return FALSE;
}

/* It has nothing more to say, and does not end. */
static gboolean
lingered_cb (gpointer data)
{
  QmBenchProcess *self = data;

  self->timer = 0;
  fail (self, QM_BENCH_ERROR_SILENT,
        _ ("The benchmark closed its output without ending, and was ended."));
  give_up (self);
  return G_SOURCE_REMOVE;
}

static void
output_cb (GObject *stream, GAsyncResult *result, gpointer data)
{
  g_autoptr (QmBenchProcess) self = data;
  g_autoptr (GBytes) bytes =
      g_input_stream_read_bytes_finish (G_INPUT_STREAM (stream), result, NULL);
  gsize size = bytes != NULL ? g_bytes_get_size (bytes) : 0;

  if (size == 0)
    {
      self->out_open = FALSE;
      if (!self->exited && self->step == 0)
        set_timer (self, QM_BENCH_LINGER, lingered_cb);
      conclude (self);
      return;
    }
  g_byte_array_append (self->text, g_bytes_get_data (bytes, NULL),
                       (guint) size);
  read_output (self);
}

/* Hands on the lines that are there, then reads more. */
static void
read_output (QmBenchProcess *self)
{
  if (!take_lines (self))
    {
      compact (self);
      self->again = g_idle_add (again_cb, self);
      return;
    }
  g_input_stream_read_bytes_async (g_subprocess_get_stdout_pipe (self->child),
                                   CHUNK, G_PRIORITY_DEFAULT_IDLE,
                                   self->reading, output_cb,
                                   g_object_ref (self));
}

static void read_words (QmBenchProcess *self);

static void
words_cb (GObject *stream, GAsyncResult *result, gpointer data)
{
  g_autoptr (QmBenchProcess) self = data;
  g_autoptr (GBytes) bytes =
      g_input_stream_read_bytes_finish (G_INPUT_STREAM (stream), result, NULL);
  gsize size = bytes != NULL ? g_bytes_get_size (bytes) : 0;

  if (size == 0)
    {
      self->err_open = FALSE;
      conclude (self);
      return;
    }
  self->cut |= self->words->len + size > QM_BENCH_MAX_LOG;
  g_string_append_len (self->words, g_bytes_get_data (bytes, NULL),
                       (gssize) size);
  if (self->words->len > QM_BENCH_MAX_LOG)
    g_string_erase (self->words, 0,
                    (gssize) (self->words->len - QM_BENCH_MAX_LOG));
  read_words (self);
}

static void
read_words (QmBenchProcess *self)
{
  g_input_stream_read_bytes_async (g_subprocess_get_stderr_pipe (self->child),
                                   QM_BENCH_MAX_LOG, G_PRIORITY_DEFAULT_IDLE,
                                   self->reading, words_cb,
                                   g_object_ref (self));
}

static void
exited_cb (GObject *child, GAsyncResult *result, gpointer data)
{
  g_autoptr (QmBenchProcess) self = data;

  g_subprocess_wait_finish (G_SUBPROCESS (child), result, NULL);
  self->exited = TRUE;
  /* What it started.  While one of these lives the number stays theirs. */
  kill_group (self);
  set_timer (self, DRAIN, drained_cb);
  conclude (self);
}

/* What the child needs between fork and exec. */
typedef struct
{
  pid_t parent;
  int tell; /* a pipe for its number: GSubprocess forgets that of a child that
               has ended */
} Birth;

/* In the child: what is safe after a fork only. */
static void
child_setup (gpointer data)
{
  const Birth *birth = data;
  pid_t self = getpid ();

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (getppid () != birth->parent
      || write (birth->tell, &self, sizeof self) != sizeof self)
    _exit (1);
  setpgid (0, 0);
  signal (SIGPIPE, SIG_DFL);
}

/* Starts a program and tells its number. */
static GSubprocess *
spawn (const char *const *words, pid_t *pid, GError **error)
{
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (
      G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  Birth birth = { .parent = getpid () };
  GSubprocess *child;
  int ends[2];

  if (!g_unix_open_pipe (ends, FD_CLOEXEC, error))
    return NULL;
  birth.tell = ends[1];
  g_subprocess_launcher_set_child_setup (launcher, child_setup, &birth, NULL);
  child = g_subprocess_launcher_spawnv (launcher, words, error);
  close (ends[1]);
  if (child != NULL && read (ends[0], pid, sizeof *pid) != sizeof *pid)
    *pid = 0;
  close (ends[0]);
  return child;
}

static gboolean
launch (QmBenchProcess *self, GError **error)
{
  g_autofree char *program = qm_bench_find ();
  g_autoptr (GPtrArray) words = g_ptr_array_new ();

  if (program == NULL)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                           _ ("there is no program qm-bench"));
      return FALSE;
    }
  g_ptr_array_add (words, program);
  for (guint i = 0; self->arguments[i] != NULL; i++)
    g_ptr_array_add (words, self->arguments[i]);
  g_ptr_array_add (words, NULL);
  self->child = spawn ((const char *const *) words->pdata, &self->pid, error);
  return self->child != NULL;
}

/* Tells that it was not started. */
static gboolean
missing_cb (gpointer data)
{
  QmBenchProcess *self = data;

  self->timer = 0;
  self->running = FALSE;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_RUNNING]);
  g_signal_emit (self, signals[ENDED], 0, self->wanted ? NULL : self->error);
  g_object_unref (self);
  return G_SOURCE_REMOVE;
}

void
qm_bench_process_start (QmBenchProcess *self)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *sentence = NULL;

  g_return_if_fail (QM_IS_BENCH_PROCESS (self));
  g_return_if_fail (!self->running && self->child == NULL);

  self->running = TRUE;
  g_object_ref (self);
  self->heard = g_get_monotonic_time ();
  if (!launch (self, &error))
    {
      sentence = g_strdup_printf (_ ("The benchmark does not start: %s"),
                                  error->message);
      fail (self, QM_BENCH_ERROR_MISSING, sentence);
      set_timer (self, 0, missing_cb);
      return;
    }
  self->out_open = self->err_open = TRUE;
  g_subprocess_wait_async (self->child, NULL, exited_cb, g_object_ref (self));
  read_output (self);
  read_words (self);
  if (self->patience > 0)
    set_timer (self, self->patience, silence_cb);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_RUNNING]);
}

void
qm_bench_process_stop (QmBenchProcess *self)
{
  g_return_if_fail (QM_IS_BENCH_PROCESS (self));

  if (!self->running)
    return;
  self->wanted = TRUE;
  if (self->child != NULL)
    give_up (self);
}

void
qm_bench_process_kill (QmBenchProcess *self)
{
  g_return_if_fail (QM_IS_BENCH_PROCESS (self));

  if (!self->running)
    return;
  self->wanted = TRUE;
  self->step = 2;
  if (self->child != NULL)
    stop_step (self);
}

char *
qm_bench_process_get_log (QmBenchProcess *self)
{
  g_return_val_if_fail (QM_IS_BENCH_PROCESS (self), NULL);

  return qm_bench_log_clean (self->words->str, self->words->len, self->cut);
}

QmBenchProcess *
qm_bench_process_new (const char *const *arguments)
{
  QmBenchProcess *self;

  g_return_val_if_fail (arguments != NULL, NULL);

  self = g_object_new (QM_TYPE_BENCH_PROCESS, NULL);
  self->arguments = g_strdupv ((char **) arguments);
  return self;
}

static void
qm_bench_process_get_property (GObject *object,
                               guint id,
                               GValue *value,
                               GParamSpec *pspec)
{
  QmBenchProcess *self = QM_BENCH_PROCESS (object);

  switch (id)
    {
    case PROP_RUNNING:
      g_value_set_boolean (value, self->running);
      break;
    case PROP_PATIENCE:
      g_value_set_uint (value, self->patience);
      break;
    case PROP_MERCY:
      g_value_set_uint (value, self->mercy);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
qm_bench_process_set_property (GObject *object,
                               guint id,
                               const GValue *value,
                               GParamSpec *pspec)
{
  QmBenchProcess *self = QM_BENCH_PROCESS (object);

  switch (id)
    {
    case PROP_PATIENCE:
      self->patience = g_value_get_uint (value);
      break;
    case PROP_MERCY:
      self->mercy = g_value_get_uint (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
qm_bench_process_finalize (GObject *object)
{
  QmBenchProcess *self = QM_BENCH_PROCESS (object);

  g_strfreev (self->arguments);
  g_clear_object (&self->child);
  g_clear_object (&self->reading);
  g_byte_array_unref (self->text);
  g_string_free (self->words, TRUE);
  g_clear_error (&self->error);
  G_OBJECT_CLASS (qm_bench_process_parent_class)->finalize (object);
}

static void
qm_bench_process_class_init (QmBenchProcessClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->get_property = qm_bench_process_get_property;
  object_class->set_property = qm_bench_process_set_property;
  object_class->finalize = qm_bench_process_finalize;
  properties[PROP_RUNNING] =
      g_param_spec_boolean ("running", NULL, NULL, FALSE,
                            G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  properties[PROP_PATIENCE] =
      g_param_spec_uint ("patience", NULL, NULL, 0, G_MAXINT, QM_BENCH_PATIENCE,
                         G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  properties[PROP_MERCY] =
      g_param_spec_uint ("mercy", NULL, NULL, 1, G_MAXINT, QM_BENCH_MERCY,
                         G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  signals[LINE] =
      g_signal_new ("line", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
  signals[ENDED] =
      g_signal_new ("ended", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 1,
                    G_TYPE_ERROR | G_SIGNAL_TYPE_STATIC_SCOPE);
}

static void
qm_bench_process_init (QmBenchProcess *self)
{
  self->patience = QM_BENCH_PATIENCE;
  self->mercy = QM_BENCH_MERCY;
  self->reading = g_cancellable_new ();
  self->text = g_byte_array_new ();
  self->words = g_string_new (NULL);
}
