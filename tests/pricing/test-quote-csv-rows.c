/* SPDX-License-Identifier: Apache-2.0 */

/* What rows of a spreadsheet are: discounts, options, alternatives. */

#include "pricing/formats/qm-csv-alternative.h"
#include "pricing/formats/qm-csv-row.h"
#include "pricing/formats/qm-quote-csv.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"
#include "tests/pricing/samples.h"

#define HEAD "Pos;Description;Qty;Price (EUR);Total (EUR)\n"

static GPtrArray *
read_text (const char *text, GError **error)
{
  gsize size = strlen (text);
  g_autoptr (QmCsvMapping) mapping = qm_csv_mapping_guess (text, size, error);

  return mapping != NULL
             ? qm_quote_csv_read (text, size, mapping, 0, NULL, error)
             : NULL;
}

/* The quotes of a table, which must be readable. */
static GPtrArray *
read_rows (const char *rows)
{
  g_autofree char *text = g_strconcat (HEAD, rows, NULL);
  g_autoptr (GError) error = NULL;
  GPtrArray *quotes = read_text (text, &error);

  g_assert_no_error (error);
  g_assert_nonnull (quotes);
  return quotes;
}

static guint
count_roles (const QmQuote *quote, QmLineRole role)
{
  guint n = 0;

  for (guint i = 0; i < quote->lines->len; i++)
    n += sample_line (quote, i)->role == role;
  return n;
}

/* Whatever a row is called, below zero it takes something off; and a word for
 * a discount does, wherever it stands. */
static void
test_discounts (void)
{
  static const struct
  {
    const char *row;
    gint64 discount;
  } cases[] = {
    { ";Education Discount;;;-50,00\n", 5000 },
    { "2;Education Discount;1;-50,00;-50,00\n", 5000 },
    { ";Less volume discount;;;(50,00)\n", 5000 },
    { ";abzgl. 5 % Hochschulrabatt;;;-50,00\n", 5000 },
    { ";abzgl. 5 % Hochschulrabatt;;;50,00\n", 5000 },
    { ";Onderwijskorting;;;-/- 50,00\n", 5000 },
    { ";Promo;;;50,00 CR\n", 5000 },
    { ";A descontar;;;50,00\n", 5000 },
    { ";Nachlass;;;50,00-\n", 5000 },
    { "2;Trade-in of old servers;1;-50,00;-50,00\n", 5000 },
    { ";Rabat dla uczelni;;;−50,00\n", 5000 },
    { ";Sconto 5 %;;;\n", 5000 },
    { ";Remise exceptionnelle;;-50,00;\n", 5000 },
    { ";Bei Zahlung innerhalb von 10 Tagen 2 % Skonto;;;\n",
      QM_AMOUNT_UNSTATED },
    { "2;Rabattmarken;1;50,00;50,00\n", QM_AMOUNT_UNSTATED },
    /* Once, and the sign was forgotten. */
    { "2;Volume discount;1;50,00;50,00\n", 5000 },
    { "2;abzgl. 5 % Treuerabatt;1,00;50,00;\n", 5000 },
    { "2;Less: research rebate;1 pc;50,00;50,00\n", 5000 },
    { "2;RTX A6000, education discount;1;50,00;50,00\n", QM_AMOUNT_UNSTATED },
    /* As often as it says. */
    { "2;Education discount;2;50,00;100,00\n", 10000 },
    { "2;Trade-in of old servers;2;-50,00;\n", 10000 },
    { "2;Credit per old card;2;50,00;\n", 10000 },
    /* Whatever word comes first, in all languages. */
    { "2;10% off, academic;1;50,00;50,00\n", 5000 },
    { "2;Credit for trade-in;1;50,00;50,00\n", 5000 },
    { "2;Credit for trade-in of 2 A100 servers of 2020;1;50,00;50,00\n", 5000 },
    { "2;Trade-in credit, 2 servers of 2019;1;50,00;50,00\n", 5000 },
    { "2;Academic rebate on 8 H100;1;50,00;50,00\n", 5000 },
    { "2;Academic program: 10% discount;1;50,00;50,00\n", 5000 },
    { "2;Less: 5% for prompt decision, 8 cards;1;50,00;50,00\n", 5000 },
    { "2;Price reduction;1;50,00;50,00\n", 5000 },
    { "2;Q4 promotion;1;50,00;50,00\n", 5000 },
    { "2;Gutschrift Altgeräte (2x V100);1;50,00;50,00\n", 5000 },
    { "2;Inzahlungnahme Altserver;1;50,00;50,00\n", 5000 },
    { "2;Rabatt für Forschungseinrichtungen lt. Rahmenvertrag 2026;1;50,00;"
      "50,00\n",
      5000 },
    { "2;Ermäßigung 5 %;1;50,00;50,00\n", 5000 },
    { "2;5 % Forschungsbonus;1;50,00;50,00\n", 5000 },
    { "2;Avoir sur commande 2025-118;1;50,00;50,00\n", 5000 },
    { "2;Remise de 5 % pour l'enseignement;1;50,00;50,00\n", 5000 },
    { "2;Reprise de l'ancien matériel;1;50,00;50,00\n", 5000 },
    { "2;Abono por equipo antiguo;1;50,00;50,00\n", 5000 },
    { "2;Nota de crédito;1;50,00;50,00\n", 5000 },
    { "2;Bonificación universidades;1;50,00;50,00\n", 5000 },
    { "2;Accredito per reso;1;50,00;50,00\n", 5000 },
    { "2;Riduzione 5%;1;50,00;50,00\n", 5000 },
    { "2;Ritiro usato 2 schede;1;50,00;50,00\n", 5000 },
    { "2;Inruil oude servers;1;50,00;50,00\n", 5000 },
    { "2;Aftrek project;1;50,00;50,00\n", 5000 },
    { "2;Bonifikata dla uczelni;1;50,00;50,00\n", 5000 },
    { "2;Zniżka 5%;1;50,00;50,00\n", 5000 },
    { "2;Abatimento por retoma;1;50,00;50,00\n", 5000 },
    { "2;Redução de preço;1;50,00;50,00\n", 5000 },
    /* The rate alone. */
    { "2;10% off, academic;1;;\n", 10000 },
    { "2;Academic discount 5%;1;;\n", 5000 },
    /* What is sold, though at a discount. */
    { "2;GPU server, education discount;1;50,00;50,00\n", QM_AMOUNT_UNSTATED },
    { "2;Workstation with academic rebate;1;50,00;50,00\n",
      QM_AMOUNT_UNSTATED },
    { "2;Promo RTX 4090;1;50,00;50,00\n", QM_AMOUNT_UNSTATED },
    { "2;Cloud credits;1;50,00;50,00\n", QM_AMOUNT_UNSTATED },
    { "2;Credit card fee;1;50,00;50,00\n", QM_AMOUNT_UNSTATED },
    { "2;Less than container load;1;50,00;50,00\n", QM_AMOUNT_UNSTATED },
    { "2;Noise reduction;1;50,00;50,00\n", QM_AMOUNT_UNSTATED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *rows =
          g_strconcat ("1;GPU;2;500,00;1.000,00\n", cases[i].row, NULL);
      g_autoptr (GPtrArray) quotes = read_rows (rows);
      const QmQuote *quote = g_ptr_array_index (quotes, 0);

      if (quote->discount_minor != cases[i].discount)
        g_error ("“%s” takes %" G_GINT64_FORMAT " off", cases[i].row,
                 quote->discount_minor);
      /* A discount is no line beside it, and told. */
      if (cases[i].discount != QM_AMOUNT_UNSTATED)
        {
          g_assert_cmpuint (quote->lines->len, ==, 1);
          g_assert_cmpuint (
              sample_findings (quote, QM_FINDING_NOTE, "discount"), >, 0);
        }
    }
}

/* One below the tax is taken from what contains the tax; one below the last
 * total is a term of payment. */
static void
test_places (void)
{
  static const char before[] = "1;GPU;1;1000;1000\n"
                               ";Discount;;;-100\n"
                               ";Net;;;900\n"
                               ";VAT 20%;;;180\n"
                               ";Total incl. VAT;;;1080\n";
  static const char after[] = "1;GPU;1;1000;1000\n"
                              ";Net;;;1000\n"
                              ";VAT 20%;;;200\n"
                              ";Discount 10%;;;-120\n"
                              ";To be paid;;;\n"
                              ";Grand total;;;1080\n";
  static const char below[] = "1;GPU;1;1000;1000\n"
                              ";Net;;;1000\n"
                              ";VAT 20%;;;200\n"
                              ";Grand total;;;1200\n"
                              ";Cash discount 10%;;;-120\n";
  static const char both[] = "1;GPU;1;1000;1000\n"
                             ";Net;;;1000\n"
                             ";VAT 20%;;;200\n"
                             ";Total incl. VAT;;;1200\n"
                             ";Cash discount 10%;;;-120\n"
                             ";Grand total;;;1080\n";
  static const struct
  {
    const char *rows;
    gint64 net, tax, payable;
  } cases[] = {
    { before, 90000, 18000, 108000 },
    { after, 90000, 18000, 108000 },
    { below, 100000, 20000, 120000 },
    { both, 90000, 18000, 108000 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) quotes = read_rows (cases[i].rows);
      QmQuote *quote = g_ptr_array_index (quotes, 0);
      QmQuoteTotals totals;

      qm_quote_totals_compute (quote, &totals);
      g_assert_cmpint (totals.net_minor, ==, cases[i].net);
      g_assert_cmpint (quote->tax_minor, ==, cases[i].tax);
      g_assert_cmpint (quote->payable_minor, ==, cases[i].payable);
      g_assert_cmpuint (qm_quote_totals_check (quote), ==, 0);
    }
}

/* What is called optional counts where the total contains it, and what is not
 * in the total does not, whatever it is called. */
static void
test_options (void)
{
  static const struct
  {
    const char *rows;
    guint quoted, options, alternatives;
  } cases[] = {
    { "1;GPU;1;1000;1000\n2;Optional: service;1;100;100\n;Net;;;1000\n", 1, 1,
      0 },
    { "1;GPU;1;1000;1000\n2;Optional: service;1;100;100\n;Net;;;1100\n", 2, 0,
      0 },
    { "1;GPU;1;1000;1000\n2;Service (optional);1;100;100\n", 1, 1, 0 },
    { "1;GPU;1;1000;1000\n2;GPU with optional fan;1;100;100\n", 2, 0, 0 },
    { "1;GPU;1;1000;1000\n;Net;;;1000\n2;Service;1;100;100\n", 1, 1, 0 },
    { "1;GPU;1;1000;1000\n;Net;;;1100\n2;Service;1;100;100\n", 2, 0, 0 },
    { "1;GPU;1;1000;1000\nOptionale Positionen:\n2;Service;1;100;100\n"
      "3;Kabel;1;10;10\n",
      1, 2, 0 },
    { "1;GPU;1;1000;1000\n2;Other GPU anstelle Pos. 1;1;900;900\n", 1, 0, 1 },
    { "1;GPU;1;1000;1000\n2;Alternativ: other GPU;1;900;900\n", 1, 0, 1 },
    { "1;GPU;1;1000;1000\n2;Upgrade to 512 GB;1;100;100\n", 2, 0, 0 },
    { "1;GPU;1;1000;1000\n2;Upgrade to 512 GB;1;100;100\n;Net;;;1100\n", 2, 0,
      0 },
    { "1;GPU;1;1000;1000\n2;Upgrade to 512 GB;1;100;100\n;Net;;;1000\n", 1, 1,
      0 },
    { "1;GPU;1;1000;1000\n2;Second supply option;1;100;100\n", 2, 0, 0 },
    { "1;GPU;1;1000;1000\n2;Option: second supply;1;100;100\n", 1, 1, 0 },
    { "1;GPU;1;1000;1000\n2;Garantie 5 ans (Option);1;100;100\n", 1, 1, 0 },
    { "1;GPU;1;1000;1000\n2;Carte réseau - option;1;100;100\n", 1, 1, 0 },
    { "1;GPU;1;1000;1000\n2;Variante : other GPU;1;900;900\n", 1, 0, 1 },
    { "1;GPU;1;1000;1000\n2;More memory;1;POA;POA\n", 1, 1, 0 },
    { "1;GPU;1;1000;1000\n2;Mounting;1;0;included\n", 2, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) quotes = read_rows (cases[i].rows);
      const QmQuote *quote = g_ptr_array_index (quotes, 0);

      g_assert_cmpuint (quotes->len, ==, 1);
      if (count_roles (quote, QM_LINE_QUOTED) != cases[i].quoted
          || count_roles (quote, QM_LINE_OPTION) != cases[i].options
          || count_roles (quote, QM_LINE_ALTERNATIVE) != cases[i].alternatives)
        g_error ("%s", cases[i].rows);
    }
}

static void
test_alternative_names (void)
{
  static const struct
  {
    const char *text, *name;
  } cases[] = {
    { "Option A", "Option A" },
    { "OPTION 2:", "OPTION 2" },
    { "Variante B - mit H100", "Variante B" },
    { "Alternative 1: 4x L40S", "Alternative 1" },
    { "Opção 2 – Aluguer", "Opção 2" },
    { "Wariant III", "Wariant III" },
    { "Option 1 (recommended)", "Option 1" },
    { "(Option A) GPU server", "Option A" },
    { "[Variante 1] GPU-Server", "Variante 1" },
    { "Opt. B: GPU server", "Opt. B" },
    { "Option A GPU server", "Option A" },
    { "Variante 1/2: GPU-Server", "Variante 1" },
    { "Option 3 years support", NULL },
    { "Option", NULL },
    { "Optional", NULL },
    { "Option A100 80GB", NULL },
    { "Alternative zu Pos. 2", NULL },
    { "Options 1", NULL },
    { "Version 2.0 of the manual", NULL },
    { "Angebot 1", NULL },
    { "", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *rest;
      g_autofree char *name = qm_csv_alternative_parse (cases[i].text, &rest);

      if (g_strcmp0 (name, cases[i].name) != 0)
        g_error ("“%s” is “%s”", cases[i].text, name);
    }
}

/* Wherever the name stands, but not where something else is counted. */
static void
test_alternative_places (void)
{
  static const struct
  {
    const char *text, *name;
  } cases[] = {
    { "8x L40S server (Option A)", "Option A" },
    { "Servidor con 8x L40S (opción A)", "opción A" },
    { "Servidor con 8x L40S, opción B", "opción B" },
    { "GPU-Server [Variante 2] mit 8x L40S", "Variante 2" },
    { "GPU-Server mit 8x L40S Variante B", "Variante B" },
    { "GPU server 8x L40S - alternative 2", "alternative 2" },
    { "GPU server 8x L40S (alternative 2 of 3)", "alternative 2" },
    { "Serveur 8x L40S (variante b)", "variante b" },
    { "Server 8x L40S – opzione 1", "opzione 1" },
    { "GPU-server 8x L40S (optie 1)", "optie 1" },
    { "Serwer 8x L40S (wariant II)", "wariant II" },
    { "Servidor 8x L40S, opção 2.", "opção 2" },
    { "Variante A: 8x L40S", "Variante A" },
    { "GPU server (Config 1)", "Config 1" },
    { "GPU server, configuration B", "configuration B" },
    { "GPU server Option-A", "Option A" },
    { "GPU server configuration 2", NULL },
    { "Cluster manager version 2", NULL },
    { "Option A", NULL },
    { "8x L40S (option)", NULL },
    { "NVIDIA A100 (80 GB)", NULL },
    { "Rails (for option)", NULL },
    { "", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = qm_csv_alternative_find (cases[i].text);

      if (g_strcmp0 (name, cases[i].name) != 0)
        g_error ("“%s” is “%s”", cases[i].text, name);
    }
}

static const QmQuote *
alternative (GPtrArray *quotes, guint i, const char *name, gint64 lines)
{
  const QmQuote *quote;
  QmQuoteTotals totals;

  g_assert_cmpuint (i, <, quotes->len);
  quote = g_ptr_array_index (quotes, i);
  g_assert_cmpstr (quote->alternative, ==, name);
  qm_quote_totals_compute (quote, &totals);
  g_assert_cmpint (totals.lines_minor, ==, lines);
  return quote;
}

/* Several days in one cell, each with its name. */
static void
test_days (void)
{
  static const struct
  {
    const char *head, *number, *issued, *from, *until;
    guint asked;
  } cases[] = {
    { "Datum: 12.03.2026, gültig bis 30.04.2026", NULL, "2026-03-12", NULL,
      "2026-04-30", 0 },
    { "Datum;12.03.2026, gültig bis 30.04.2026", NULL, "2026-03-12", NULL,
      "2026-04-30", 0 },
    { "Gültig bis;30.04.2026 (Angebotsdatum 12.03.2026)", NULL, "2026-03-12",
      NULL, "2026-04-30", 0 },
    { "Angebot Nr. 26-118 vom 12.03.2026, gültig bis 30.04.2026", "26-118",
      "2026-03-12", NULL, "2026-04-30", 0 },
    { "Angebot vom 12.03.2026 - Bindefrist: 30.04.2026", NULL, "2026-03-12",
      NULL, "2026-04-30", 0 },
    { "Datum 12. März 2026 und gültig 4 Wochen", NULL, "2026-03-12", NULL,
      "2026-04-09", 0 },
    { "Datum: 12.03.2026; gültig ab 15.03.2026 bis 30.04.2026", NULL,
      "2026-03-12", "2026-03-15", "2026-04-30", 0 },
    { "Date: March 12, 2026; Valid until: April 30, 2026", NULL, "2026-03-12",
      NULL, "2026-04-30", 0 },
    { "Offer date 12 March 2026 / expires 30 April 2026", NULL, "2026-03-12",
      NULL, "2026-04-30", 0 },
    { "Quote Q-17 dated 4 June 2026, valid for 30 days", "Q-17", "2026-06-04",
      NULL, "2026-07-04", 0 },
    { "Date: 05/03/2026 (valid until 30/04/2026)", NULL, "2026-03-05", NULL,
      "2026-04-30", 0 },
    { "Quote date: 03/05/2026, expires 04/30/2026", NULL, "2026-03-05", NULL,
      "2026-04-30", 0 },
    { "Date : 12/03/2026 – Valable jusqu'au 30/04/2026", NULL, "2026-03-12",
      NULL, "2026-04-30", 0 },
    { "Devis du 17/03/2026, validité 30 jours", NULL, "2026-03-17", NULL,
      "2026-04-16", 0 },
    { "Fecha: 12/03/2026. Válido hasta el 30/04/2026", NULL, "2026-03-12", NULL,
      "2026-04-30", 0 },
    { "Data: 12/03/2026, valido fino al 30/04/2026", NULL, "2026-03-12", NULL,
      "2026-04-30", 0 },
    { "Datum 12-03-2026 | geldig tot 30-04-2026", NULL, "2026-03-12", NULL,
      "2026-04-30", 0 },
    { "Data wystawienia: 12.03.2026, ważna do 30.04.2026", NULL, "2026-03-12",
      NULL, "2026-04-30", 0 },
    { "Data: 12/03/2026, válida até 30/04/2026", NULL, "2026-03-12", NULL,
      "2026-04-30", 0 },
    /* Not clearly: each is asked about. */
    { "Date: 05/03/2026, valid until 06/04/2026", NULL, NULL, NULL, NULL,
      QM_ASK_DATE | QM_ASK_VALIDITY },
    { "Date: 12.03.2026, valid until 30.04.2026 or on request", NULL,
      "2026-03-12", NULL, NULL, QM_ASK_VALIDITY },
    { "Date: 12.03.2026, valid 30.04.2026 31.05.2026", NULL, "2026-03-12", NULL,
      NULL, QM_ASK_VALIDITY },
    /* One name alone. */
    { "Valid 30 days from date of quote", NULL, NULL, NULL, NULL,
      QM_ASK_VALIDITY },
    { "Datum: 12.03.2026", NULL, "2026-03-12", NULL, NULL, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text =
          g_strconcat (cases[i].head, "\n" HEAD "1;GPU;1;1000;1000\n", NULL);
      g_autoptr (GPtrArray) quotes = read_text (text, NULL);
      const QmQuote *quote;
      g_autofree char *issued = NULL;
      g_autofree char *from = NULL;
      g_autofree char *until = NULL;

      g_assert_nonnull (quotes);
      quote = g_ptr_array_index (quotes, 0);
      issued = qm_read_date_text (quote->issued_on);
      from = qm_read_date_text (quote->valid_from);
      until = qm_read_date_text (quote->valid_until);
      if (g_strcmp0 (quote->number, cases[i].number) != 0
          || g_strcmp0 (issued, cases[i].issued) != 0
          || g_strcmp0 (from, cases[i].from) != 0
          || g_strcmp0 (until, cases[i].until) != 0
          || qm_quote_open (quote) != cases[i].asked)
        g_error ("“%s”: number %s, issued %s, from %s, until %s, asked %u",
                 cases[i].head, quote->number, issued, from, until,
                 qm_quote_open (quote));
    }
}

/* What all have is in each; a whole quote with options is one. */
static void
test_alternatives (void)
{
  g_autoptr (GPtrArray) shared =
      read_rows ("1;Server;1;1000;1000\nOption A\n2;GPU;1;500;500\n"
                 "Option B\n3;Other GPU;1;700;700\n");
  g_autoptr (GPtrArray) summed = read_rows (
      "Variante 1\n1;Server;1;1000;1000\n;Net;;;1000\n;VAT 20%;;;200\n"
      "Variante 2\n1;Server;1;2000;2000\n;Net;;;2000\n;VAT 20%;;;400\n");
  g_autoptr (GPtrArray) at_end =
      read_rows ("Option A\n1;Server;1;1000;1000\nOption B\n"
                 "1;Server;1;2000;2000\n;Total option A;;;1200\n"
                 ";Total option B;;;2400\n");
  g_autoptr (GPtrArray) in_line =
      read_rows ("1;Option 1: Server;1;1000;1000\n2;Option 2: Server;1;2000;"
                 "2000\n");
  g_autoptr (GPtrArray) parts =
      read_rows ("1;Option 1: Server;1;1000;1000\n;2 x GPU;;;\n"
                 "2;Option 2: Server;1;2000;2000\n;4 x GPU;;;\n");
  g_autoptr (GPtrArray) last =
      read_rows ("1;Server (opción A);1;1000;1000\n2;Server (opción B);1;2000;"
                 "2000\n3;Cable;1;10;10\n4;10% off, academic;1;5;5\n");
  g_autoptr (GPtrArray) numbered =
      read_rows ("Option A;Server;1;1000;1000\nOption B;Server;1;2000;2000\n");
  g_autoptr (GPtrArray) named =
      read_rows ("1;Option A;1;1000;1000\n;8 x GPU;;;\n"
                 "2;Option B;1;2000;2000\n;4 x GPU;;;\n");
  g_autoptr (GPtrArray) headed =
      read_rows ("Server mit 8 GPUs (Variante 1)\n1;Server;1;1000;1000\n"
                 "Server mit 4 GPUs (Variante 2)\n1;Server;1;2000;2000\n");
  g_autoptr (GPtrArray) besides =
      read_rows ("1;Server;1;1000;1000\n;Net;;;1000\nOption 1\n"
                 "2;Service;1;100;100\nOption 2\n3;Service;1;200;200\n");

  g_assert_cmpuint (shared->len, ==, 2);
  alternative (shared, 0, "Option A", 150000);
  alternative (shared, 1, "Option B", 170000);
  g_assert_cmpint (alternative (summed, 0, "Variante 1", 100000)->tax_minor, ==,
                   20000);
  g_assert_cmpint (alternative (summed, 1, "Variante 2", 200000)->tax_minor, ==,
                   40000);
  g_assert_cmpint (alternative (at_end, 0, "Option A", 100000)->payable_minor,
                   ==, 120000);
  g_assert_cmpint (alternative (at_end, 1, "Option B", 200000)->payable_minor,
                   ==, 240000);
  alternative (last, 0, "opción A", 101000);
  alternative (last, 1, "opción B", 201000);
  alternative (numbered, 0, "Option A", 100000);
  alternative (numbered, 1, "Option B", 200000);
  alternative (named, 0, "Option A", 100000);
  alternative (named, 1, "Option B", 200000);
  alternative (headed, 0, "Variante 1", 100000);
  alternative (headed, 1, "Variante 2", 200000);
  alternative (in_line, 0, "Option 1", 100000);
  alternative (in_line, 1, "Option 2", 200000);
  alternative (parts, 0, "Option 1", 100000);
  g_assert_cmpuint (count_roles (alternative (parts, 1, "Option 2", 200000),
                                 QM_LINE_PART),
                    ==, 1);
  g_assert_cmpuint (besides->len, ==, 1);
  g_assert_cmpuint (count_roles (alternative (besides, 0, NULL, 100000),
                                 QM_LINE_OPTION),
                    ==, 2);
}

/* Which quote one replaces. */
static void
test_replaced (void)
{
  static const struct
  {
    const char *words, *number;
  } cases[] = {
    { "Ersetzt Angebot AN-4711.", "AN-4711" },
    { "Ersetzt Angebot;AN-4711", "AN-4711" },
    { "This quote replaces quote Q-17 of May", "Q-17" },
    { "Annule et remplace le devis n° : D26-4", "D26-4" },
    { "Vervangt offerte OF-3", "OF-3" },
    { "Replaces all before", NULL },
    { "Quote Q-17", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strconcat (cases[i].words, ";;;;\n", HEAD,
                                           "1;GPU;1;500;500\n", NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) quotes = read_text (text, &error);
      const QmQuote *quote;

      g_assert_no_error (error);
      quote = g_ptr_array_index (quotes, 0);
      g_assert_cmpstr (quote->supersedes, ==, cases[i].number);
    }
}

/* Whether prices contain tax may stand in a sentence, above or below. */
static void
test_tax_notes (void)
{
  static const struct
  {
    const char *words;
    QmTristate tax;
  } cases[] = {
    { "Alle Preise inkl. 19 % MwSt.", QM_YES },
    { "Preise zzgl. Versand, inkl. der gesetzlichen MwSt.", QM_YES },
    { "Alle Preise in Euro zzgl. 19 % MwSt.", QM_NO },
    { "Die Preise enthalten keine Versandkosten", QM_UNSTATED },
    { "All prices include 20% VAT", QM_YES },
    { "Prices are exclusive of VAT", QM_NO },
    { "Prices: VAT not included", QM_NO },
    { "Tous les prix sont TTC", QM_YES },
    { "Prix HT", QM_NO },
    { "Precios con IVA incluido", QM_YES },
    { "Prezzi IVA esclusa", QM_NO },
    { "Prezzi IVA inclusa", QM_YES },
    { "Alle prijzen exclusief 21% btw", QM_NO },
    { "Preços sem IVA", QM_NO },
    { "Ceny bez VAT", QM_NO },
    { "VAT number DE123", QM_UNSTATED },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++)
    {
      const char *words = cases[i / 2].words;
      g_autofree char *note = g_strconcat (words, ";;;;\n", NULL);
      g_autofree char *text =
          g_strconcat (i % 2 == 0 ? note : "", HEAD, "1;GPU;1;500;500\n",
                       ";Net;;;500\n", i % 2 == 0 ? "" : note, NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) quotes = read_text (text, &error);
      const QmQuote *quote;

      g_assert_no_error (error);
      quote = g_ptr_array_index (quotes, 0);
      if (quote->tax_included != cases[i / 2].tax)
        g_error ("“%s”: %d", words, quote->tax_included);
    }
}

/* Two documents in one table do not share their alternatives. */
/* A line without words at the top of a page is none of totals, though the names
 * of columns above it are those of such. */
static void
test_line_below_names (void)
{
  static const char text[] =
      "Pos;Description;Qty;Unit price (EUR);Net amount;VAT;Gross amount\n"
      "1;Server;1;100,00;100,00;19,00;119,00\n"
      "Pos;Description;Qty;Unit price (EUR);Net amount;VAT;Gross amount\n"
      "2;;4;50,00;200,00;38,00;238,00\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) quotes = read_text (text, &error);
  const QmQuote *quote;

  g_assert_no_error (error);
  quote = g_ptr_array_index (quotes, 0);
  g_assert_cmpuint (quote->lines->len, ==, 2);
  g_assert_cmpint (sample_line (quote, 1)->total_minor, ==, 20000);
  g_assert_cmpint (quote->tax_minor, ==, QM_AMOUNT_UNSTATED);
}

/* What all lines come to is a total where these have quantities and it has
 * none; else it may be a line that costs as much as the others together. */
static void
test_sums (void)
{
  static const struct
  {
    const char *rows;
    guint lines;
  } cases[] = {
    { "1;Server;1;100,00;100,00\n2;Card;4;50,00;200,00\n"
      ";Auftragswert;;;300,00\n",
      2 },
    { "1;Server;1;100,00;100,00\n2;Card;4;50,00;200,00\n"
      ";Auftragswert;;;310,00\n",
      3 },
    { "1;Server;1;100,00;100,00\n2;Card;4;50,00;200,00\n"
      "3;Wartung;;;300,00\n",
      3 },
    { ";Server;;;100,00\n;Installation;;;200,00\n;Wartung;;;300,00\n", 3 },
    { ";Server;1;100,00;100,00\n;Wartung;;;100,00\n", 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) quotes = read_rows (cases[i].rows);
      const QmQuote *quote = g_ptr_array_index (quotes, 0);

      g_test_message ("%s", cases[i].rows);
      g_assert_cmpuint (quote->lines->len, ==, cases[i].lines);
    }
}

static void
test_vendors (void)
{
  g_autoptr (GPtrArray) quotes = NULL;
  g_autoptr (GError) error = NULL;

  quotes = read_text ("Vendor;Quote;Option;Product;Qty;Price (EUR)\n"
                      "A;1;;Rack;1;10\nA;1;1;GPU;1;100\nA;1;2;GPU;1;200\n"
                      "B;1;;Cable;1;5\n",
                      &error);
  g_assert_no_error (error);
  g_assert_cmpuint (quotes->len, ==, 3);
  alternative (quotes, 0, "Option 1", 11000);
  alternative (quotes, 1, "Option 2", 21000);
  alternative (quotes, 2, NULL, 500);
}

/* Each of many alternatives would have the lines of all. */
static void
test_too_many (void)
{
  g_autoptr (GString) text = g_string_new (HEAD "1;Server;1;1000;1000\n");
  g_autoptr (GPtrArray) quotes = NULL;
  g_autoptr (GError) error = NULL;

  for (int i = 1; i <= 60; i++)
    g_string_append_printf (text, "Option %d\n2;GPU;1;500;500\n", i);
  quotes = read_text (text->str, &error);
  g_assert_null (quotes);
  g_assert_error (error, QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE);
}

/* Below headings, too. */
static void
test_months_of_options (void)
{
  g_autoptr (GPtrArray) quotes = NULL;
  g_autoptr (GError) error = NULL;

  quotes = read_text ("Product;Qty;Price per month (EUR)\nOption A\n"
                      "Server with 8 GPUs;1;9000\nOption B\n"
                      "Server with 4 GPUs;1;5000\n",
                      &error);
  g_assert_no_error (error);
  g_assert_cmpuint (quotes->len, ==, 2);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpuint (qm_quote_line_open (
                          sample_line (g_ptr_array_index (quotes, i), 0)),
                      ==, QM_ASK_RENT);
}

/* A price for a month is asked about, line by line, but for what is paid
 * once. */
static void
test_months (void)
{
  g_autoptr (GPtrArray) quotes = NULL;
  g_autoptr (GError) error = NULL;
  const QmQuote *quote;

  quotes = read_text ("Leistung;Menge;Preis pro Monat (EUR)\n"
                      "Server mit 8 GPUs;1;9000\nEinmalige Einrichtung;1;500\n",
                      &error);
  g_assert_no_error (error);
  quote = g_ptr_array_index (quotes, 0);
  g_assert_cmpuint (qm_quote_line_open (sample_line (quote, 0)), ==,
                    QM_ASK_RENT);
  g_assert_cmpuint (qm_quote_line_open (sample_line (quote, 1)), ==, 0);
  g_assert_cmpuint (sample_findings (quote, QM_FINDING_WARNING, "rent"), ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/csv-rows/discounts", test_discounts);
  g_test_add_func ("/csv-rows/places", test_places);
  g_test_add_func ("/csv-rows/options", test_options);
  g_test_add_func ("/csv-rows/alternative-names", test_alternative_names);
  g_test_add_func ("/csv-rows/alternative-places", test_alternative_places);
  g_test_add_func ("/csv-rows/alternatives", test_alternatives);
  g_test_add_func ("/csv-rows/days", test_days);
  g_test_add_func ("/csv-rows/replaced", test_replaced);
  g_test_add_func ("/csv-rows/tax-notes", test_tax_notes);
  g_test_add_func ("/csv-rows/line-below-names", test_line_below_names);
  g_test_add_func ("/csv-rows/sums", test_sums);
  g_test_add_func ("/csv-rows/vendors", test_vendors);
  g_test_add_func ("/csv-rows/too-many", test_too_many);
  g_test_add_func ("/csv-rows/months", test_months);
  g_test_add_func ("/csv-rows/months-of-options", test_months_of_options);
  return g_test_run ();
}
