/* SPDX-License-Identifier: Apache-2.0 */

/* The program, loaded once for many commands: to load GTK, and to be watched
 * for memory errors, takes most of the time of a short command.  Standard input
 * is a socket.  A message is how many bytes follow, arguments and variables
 * there are, as three numbers of 32 bits in the machine's order, with two
 * descriptors; then the folder, each argument and each variable, all of which
 * end with a zero.  A child is the program, with these as standard output and
 * error; the answer is its status, as of waitpid().  */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_BYTES (16u << 20)

/* The program's main(), by the linker's --wrap. */
int __real_main (int argc, char **argv);
int __wrap_main (int argc, char **argv);

/* What LeakSanitizer asks before it looks. */
int __lsan_is_turned_off (void);

extern char **environ;

static int leaks_ignored;

typedef struct
{
  uint32_t bytes;
  uint32_t n_arguments;
  uint32_t n_variables;
} Head;

int
__lsan_is_turned_off (void)
{
  return leaks_ignored;
}

static _Noreturn void
fail (const char *what)
{
  perror (what);
  _exit (125);
}

/* 0 at the end of the last command. */
static int
receive_head (Head *head, int descriptors[2])
{
  union
  {
    struct cmsghdr head;
    char bytes[CMSG_SPACE (2 * sizeof (int))];
  } control;
  struct iovec part = { .iov_base = head, .iov_len = sizeof *head };
  struct msghdr message = { .msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof control };
  struct cmsghdr *first;
  ssize_t n = recvmsg (0, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);

  if (n == 0)
    return 0;
  first = CMSG_FIRSTHDR (&message);
  if (n != (ssize_t) sizeof *head || head->bytes > MAX_BYTES || first == NULL
      || first->cmsg_type != SCM_RIGHTS
      || first->cmsg_len != CMSG_LEN (2 * sizeof (int)))
    fail ("message");
  memcpy (descriptors, CMSG_DATA (first), 2 * sizeof (int));
  return 1;
}

static char *
receive_bytes (size_t size)
{
  char *bytes = calloc (size + 1, 1);

  if (bytes == NULL)
    fail ("memory");
  for (size_t got = 0; got < size;)
    {
      ssize_t n = read (0, bytes + got, size - got);

      if (n <= 0)
        fail ("read");
      got += (size_t) n;
    }
  return bytes;
}

/* Cuts `n` texts off, which end with a zero; ends with NULL. */
static char **
cut_texts (char **at, size_t n)
{
  char **texts = calloc (n + 1, sizeof *texts);

  if (texts == NULL)
    fail ("memory");
  for (size_t i = 0; i < n; i++)
    {
      texts[i] = *at;
      *at += strlen (*at) + 1;
    }
  return texts;
}

static _Noreturn void
become_program (const Head *head, const int descriptors[2])
{
  char *at = receive_bytes (head->bytes);
  const char *folder = at;
  const char *options;
  char **arguments;
  int nothing = open ("/dev/null", O_RDONLY | O_CLOEXEC);

  at += strlen (at) + 1;
  arguments = cut_texts (&at, head->n_arguments);
  environ = cut_texts (&at, head->n_variables);
  if (chdir (folder) != 0 || dup2 (nothing, 0) != 0
      || dup2 (descriptors[0], 1) != 1 || dup2 (descriptors[1], 2) != 2)
    fail ("folder or descriptors");
  close (nothing);
  close (descriptors[0]);
  close (descriptors[1]);
  options = getenv ("ASAN_OPTIONS");
  leaks_ignored = options != NULL && strstr (options, "detect_leaks=0") != NULL;
  exit (__real_main ((int) head->n_arguments, arguments));
}

int
__wrap_main (int argc, char **argv)
{
  Head head;
  int descriptors[2];

  (void) argc;
  (void) argv;
  while (receive_head (&head, descriptors))
    {
      int32_t status;
      pid_t child = fork ();

      if (child < 0)
        fail ("fork");
      if (child == 0)
        become_program (&head, descriptors);
      close (descriptors[0]);
      close (descriptors[1]);
      while (waitpid (child, &status, 0) < 0)
        if (errno != EINTR)
          fail ("waitpid");
      if (write (0, &status, sizeof status) != (ssize_t) sizeof status)
        fail ("write");
    }
  return 0;
}
