/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/pricing/server.h"

#include <stdio.h>

TestServer *
test_server_start (void)
{
  static const char *const proxies[] = { "http_proxy",  "https_proxy",
                                         "HTTPS_PROXY", "all_proxy",
                                         "ALL_PROXY",   "no_proxy",
                                         "NO_PROXY" };
  g_autoptr (GError) error = NULL;
  g_autoptr (GDataInputStream) output = NULL;
  g_autofree char *script =
      g_test_build_filename (G_TEST_DIST, "server.py", NULL);
  g_autofree char *pages = g_test_build_filename (G_TEST_DIST, "pages", NULL);
  g_autofree char *certificate =
      g_test_build_filename (G_TEST_DIST, "localhost.pem", NULL);
  g_autofree char *line = NULL;
  TestServer *server = g_new0 (TestServer, 1);

  for (gsize i = 0; i < G_N_ELEMENTS (proxies); i++)
    g_unsetenv (proxies[i]);
  server->process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE
                                          | G_SUBPROCESS_FLAGS_STDOUT_PIPE,
                                      &error, g_getenv ("QM_TEST_PYTHON"),
                                      script, pages, certificate, NULL);
  g_assert_no_error (error);
  output =
      g_data_input_stream_new (g_subprocess_get_stdout_pipe (server->process));
  line = g_data_input_stream_read_line (output, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (line);
  g_assert_cmpint (sscanf (line, "{\"http\": %d, \"https\": %d}",
                           &server->http_port, &server->https_port),
                   ==, 2);
  return server;
}

void
test_server_stop (TestServer *server)
{
  g_output_stream_close (g_subprocess_get_stdin_pipe (server->process), NULL,
                         NULL);
  g_subprocess_wait (server->process, NULL, NULL);
  g_object_unref (server->process);
  g_free (server);
}

char *
test_server_address (const TestServer *server, const char *path)
{
  return g_strdup_printf ("http://127.0.0.1:%d%s", server->http_port, path);
}
