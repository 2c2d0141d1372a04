/* SPDX-License-Identifier: Apache-2.0 */

/* The web server of the tests. */

#pragma once

#include <gio/gio.h>

typedef struct
{
  GSubprocess *process;
  int http_port;
  int https_port;
} TestServer;

/* Starts tests/pricing/server.py; the environment names Python and the folder
 * of the tests. Also takes all proxies out of the environment. */
TestServer *test_server_start (void);

void test_server_stop (TestServer *server);

/* "http://127.0.0.1:PORT" and a path. */
char *test_server_address (const TestServer *server, const char *path);
