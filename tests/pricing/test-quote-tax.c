/* SPDX-License-Identifier: Apache-2.0 */

/* Tax in tables of quotes: under the names that vendors of eight countries give
 * it, on top of a total or in it.  Lines come to 44,000 EUR. */

#include "pricing/formats/qm-quote-csv.h"
#include "pricing/formats/qm-quote-import.h"
#include "pricing/quotes/qm-quote-offer.h"

#include <string.h>

typedef enum
{
  DE,
  FR,
  EN,
  ES,
  NL,
  PL,
  PT,
  IT
} Language;

static const char *const heads[] = {
  [DE] = "Bezeichnung;Menge;Einzelpreis EUR;Gesamt EUR",
  [FR] = "Désignation;Qté;Prix EUR;Montant EUR",
  [EN] = "Description;Qty;Unit price EUR;Total EUR",
  [ES] = "Concepto;Uds.;Precio EUR;Importe EUR",
  [NL] = "Omschrijving;Aantal;Prijs EUR;Totaal EUR",
  [PL] = "Nazwa;Ilość;Cena EUR;Wartość EUR",
  [PT] = "Descrição;Qtd;Preço EUR;Total EUR",
  [IT] = "Descrizione;Q.tà;Prezzo EUR;Importo EUR",
};

static const char *const servers[] = {
  [DE] = "GPU-Server 2HE",  [FR] = "Serveur GPU 2U", [EN] = "GPU server 2U",
  [ES] = "Servidor GPU 2U", [NL] = "GPU-server 2U",  [PL] = "Serwer GPU 2U",
  [PT] = "Servidor GPU 2U", [IT] = "Server GPU 2U",
};

/* What stands below the lines, and what that makes of the quote, in cents. */
typedef struct
{
  Language language;
  const char *below;
  gint64 net;
  gint64 tax;
  gboolean taxed; /* the net amount contains tax that is not told */
} Case;

/* (transfer full) */
static GPtrArray *
read_below (Language language, const char *below)
{
  g_autofree char *text = g_strdup_printf (
      "%s\n%s;1;12000,00;12000,00\nNVIDIA L40S 48GB;4;8000,00;32000,00\n%s",
      heads[language], servers[language], below);
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import =
      qm_import_bytes (bytes, "quote.csv", NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (import->quotes->len, ==, 1);
  return g_ptr_array_ref (import->quotes);
}

static void
check (const Case *one)
{
  g_autoptr (GPtrArray) quotes = read_below (one->language, one->below);
  const QmQuote *quote = g_ptr_array_index (quotes, 0);
  gint64 net, tax;
  gboolean taxed;

  qm_quote_come_to (quote, &net, &tax, &taxed);
  if (net != one->net || tax != one->tax || taxed != one->taxed)
    g_error ("%s: %.2f and tax of %.2f%s", one->below, (double) net / 100,
             (double) tax / 100, taxed ? ", with tax" : "");
  for (guint i = 0; i < quote->findings->len; i++)
    {
      const QmFinding *finding = g_ptr_array_index (quote->findings, i);

      if (finding->level == QM_FINDING_WARNING)
        g_error ("%s: %s", one->below, finding->message);
    }
}

/* Totals that tax is in, and rows between totals. */
static void
test_totals (void)
{
  static const Case cases[] = {
    { DE, "Gesamtbetrag inkl. 19 % MwSt.;;;44000,00\n", 3697479, 702521,
      FALSE },
    { DE,
      "Gesamtbetrag;;;44000,00\n"
      "Alle Preise inkl. 19 % MwSt.;;;\n",
      3697479, 702521, FALSE },
    { DE,
      "Gesamtbetrag;;;44000,00\n"
      "darin enthaltene 19 % USt;;;7025,21\n",
      3697479, 702521, FALSE },
    { DE,
      "Gesamtbetrag;;;44000,00\n"
      "hierin enthalten: Umsatzsteuer 19 %;;;7025,21\n",
      3697479, 702521, FALSE },
    { DE, "Gesamtbetrag brutto;;;44000,00\n", 4400000, QM_AMOUNT_UNSTATED,
      TRUE },
    { DE,
      "Endbetrag;;;44000,00\n"
      "inkl. 19 % MwSt.;;;\n",
      3697479, 702521, FALSE },
    { DE,
      "Endbetrag;;;44000,00\n"
      "MwSt. 19 % (im Endbetrag enthalten);;;7025,21\n",
      3697479, 702521, FALSE },
    { FR, "Total TTC;;;44000,00\n", 4400000, QM_AMOUNT_UNSTATED, TRUE },
    { FR, "Total TTC (TVA 20 % incluse);;;44000,00\n", 3666667, 733333, FALSE },
    { FR,
      "Total à payer;;;44000,00\n"
      "dont TVA 20 %;;;7333,33\n",
      3666667, 733333, FALSE },
    { FR,
      "Total à payer;;;44000,00\n"
      "Prix TTC;;;\n",
      4400000, QM_AMOUNT_UNSTATED, TRUE },
    { EN, "Total incl. VAT;;;44000,00\n", 4400000, QM_AMOUNT_UNSTATED, TRUE },
    { EN, "Total (VAT included);;;44000,00\n", 4400000, QM_AMOUNT_UNSTATED,
      TRUE },
    { EN,
      "Total;;;44000,00\n"
      "All prices include VAT at 20%.;;;\n",
      3666667, 733333, FALSE },
    { EN, "Total including 20% VAT;;;44000,00\n", 3666667, 733333, FALSE },
    { EN,
      "Grand total;;;44000,00\n"
      "of which VAT 20 %;;;7333,33\n",
      3666667, 733333, FALSE },
    { EN,
      "Total;;;44000,00\n"
      "includes VAT of;;;7333,33\n",
      3666667, 733333, FALSE },
    { ES, "Total IVA incluido;;;44000,00\n", 4400000, QM_AMOUNT_UNSTATED,
      TRUE },
    { ES, "Total con IVA (21 %);;;44000,00\n", 3636364, 763636, FALSE },
    { ES,
      "Total;;;44000,00\n"
      "Precios con IVA incluido;;;\n",
      4400000, QM_AMOUNT_UNSTATED, TRUE },
    { ES,
      "Total;;;44000,00\n"
      "de los cuales IVA 21 %;;;7636,36\n",
      3636364, 763636, FALSE },
    { IT, "Totale IVA inclusa;;;44000,00\n", 4400000, QM_AMOUNT_UNSTATED,
      TRUE },
    { IT, "Totale ivato;;;44000,00\n", 4400000, QM_AMOUNT_UNSTATED, TRUE },
    { IT,
      "Totale;;;44000,00\n"
      "di cui IVA 22 %;;;7934,43\n",
      3606557, 793443, FALSE },
    { IT,
      "Totale;;;44000,00\n"
      "I prezzi si intendono IVA inclusa;;;\n",
      4400000, QM_AMOUNT_UNSTATED, TRUE },
    { NL, "Totaal incl. 21% btw;;;44000,00\n", 3636364, 763636, FALSE },
    { NL,
      "Totaal;;;44000,00\n"
      "waarvan btw 21%;;;7636,36\n",
      3636364, 763636, FALSE },
    { NL,
      "Totaal;;;44000,00\n"
      "Alle prijzen zijn inclusief 21% btw;;;\n",
      3636364, 763636, FALSE },
    { PL, "Razem brutto;;;44000,00\n", 4400000, QM_AMOUNT_UNSTATED, TRUE },
    { PL,
      "Razem;;;44000,00\n"
      "w tym VAT 23%;;;8227,64\n",
      3577236, 822764, FALSE },
    { PL,
      "Razem;;;44000,00\n"
      "Ceny zawierają 23% VAT;;;\n",
      3577236, 822764, FALSE },
    { PT, "Total com IVA;;;44000,00\n", 4400000, QM_AMOUNT_UNSTATED, TRUE },
    { PT,
      "Total;;;44000,00\n"
      "IVA incluído à taxa de 23%;;;\n",
      3577236, 822764, FALSE },
    { PT,
      "Total;;;44000,00\n"
      "dos quais IVA 23 %;;;8227,64\n",
      3577236, 822764, FALSE },
    { DE,
      "Summe;;;44000,00\n"
      "XYZ-Abgabe;;;8360,00\n"
      "Gesamt;;;52360,00\n",
      4400000, 836000, FALSE },
    { DE,
      "Netto;;;44000,00\n"
      "XYZ-Abgabe;;;8360,00\n"
      "Gesamt;;;52360,00\n",
      4400000, 836000, FALSE },
    { DE,
      "Zwischensumme;;;44000,00\n"
      "Expressversand und Versicherung;;;500,00\n"
      "Montage im Rack;;;1000,00\n"
      "Gesamt;;;45500,00\n",
      4550000, QM_AMOUNT_UNSTATED, FALSE },
    { DE,
      "Summe;;;44000,00\n"
      "Summe MwSt. 19 %;;;8360,00\n"
      "Endbetrag;;;52360,00\n",
      4400000, 836000, FALSE },
    { NL,
      "Totaal;;;44000,00\n"
      "Totaal btw;;;9240,00\n"
      "Te betalen;;;53240,00\n",
      4400000, 924000, FALSE },
    { EN,
      "Subtotal;;;44000,00\n"
      "Total VAT;;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { EN,
      "VAT 20%;1;8800,00;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { EN,
      "Subtotal;;;36666,67\n"
      "Total incl. VAT;;;44000,00\n",
      3666667, 733333, FALSE },
    { DE,
      "Netto;;;36974,79\n"
      "MwSt 19 %;;;7025,21\n"
      "Brutto;;;44000,00\n",
      3697479, 702521, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i]);
}

/* Tax between a net amount and what is to be paid, under many names. */
static void
test_names (void)
{
  static const Case cases[] = {
    { DE,
      "Netto;;;44000,00\n"
      "\"Umsatzsteuer 19,0 %\";;;8800,00\n"
      "Gesamtbetrag;;;52800,00\n",
      4400000, 880000, FALSE },
    { DE,
      "Netto;;;44000,00\n"
      "\"zzgl. gesetzl. MwSt. (19 %)\";;;8800,00\n"
      "Gesamtbetrag;;;52800,00\n",
      4400000, 880000, FALSE },
    { DE,
      "Netto;;;44000,00\n"
      "\"USt. 19% (Reverse Charge nicht anwendbar)\";;;8800,00\n"
      "Gesamtbetrag;;;52800,00\n",
      4400000, 880000, FALSE },
    { DE,
      "Netto;;;44000,00\n"
      "\"gesetzliche Mehrwertsteuer\";;;8800,00\n"
      "Gesamtbetrag;;;52800,00\n",
      4400000, 880000, FALSE },
    { DE,
      "Netto;;;44000,00\n"
      "\"MWST-Betrag 19 %\";;;8800,00\n"
      "Gesamtbetrag;;;52800,00\n",
      4400000, 880000, FALSE },
    { DE,
      "Netto;;;44000,00\n"
      "\"Steuerbetrag 19 %\";;;8800,00\n"
      "Gesamtbetrag;;;52800,00\n",
      4400000, 880000, FALSE },
    { DE,
      "Netto;;;44000,00\n"
      "\"Einfuhrumsatzsteuer 19 %\";;;8800,00\n"
      "Gesamtbetrag;;;52800,00\n",
      4400000, 880000, FALSE },
    { FR,
      "Total HT;;;44000,00\n"
      "\"T.V.A. à 20 %\";;;8800,00\n"
      "Total TTC;;;52800,00\n",
      4400000, 880000, FALSE },
    { FR,
      "Total HT;;;44000,00\n"
      "\"Taxe sur la valeur ajoutée 20%\";;;8800,00\n"
      "Total TTC;;;52800,00\n",
      4400000, 880000, FALSE },
    { FR,
      "Total HT;;;44000,00\n"
      "\"Montant TVA (20,00 %)\";;;8800,00\n"
      "Total TTC;;;52800,00\n",
      4400000, 880000, FALSE },
    { FR,
      "Total HT;;;44000,00\n"
      "\"TPS 5 % et TVQ 9,975 %\";;;8800,00\n"
      "Total TTC;;;52800,00\n",
      4400000, 880000, FALSE },
    { EN,
      "Subtotal;;;44000,00\n"
      "\"V.A.T. @ 20%\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { EN,
      "Subtotal;;;44000,00\n"
      "\"GST 10%\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { EN,
      "Subtotal;;;44000,00\n"
      "\"HST (13%)\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { EN,
      "Subtotal;;;44000,00\n"
      "\"Tax (8.875%)\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { EN,
      "Subtotal;;;44000,00\n"
      "\"Value added tax 20 %\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { EN,
      "Subtotal;;;44000,00\n"
      "\"State and local taxes\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { ES,
      "Base imponible;;;44000,00\n"
      "\"I.V.A. (21%)\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { ES,
      "Base imponible;;;44000,00\n"
      "\"Impuesto sobre el valor añadido 21 %\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { ES,
      "Base imponible;;;44000,00\n"
      "\"Cuota IVA 21%\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { ES,
      "Base imponible;;;44000,00\n"
      "\"IGIC 7 %\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { ES,
      "Base imponible;;;44000,00\n"
      "\"Impuestos (21 %)\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { NL,
      "Totaal excl. btw;;;44000,00\n"
      "\"BTW hoog 21%\";;;8800,00\n"
      "Totaal incl. btw;;;52800,00\n",
      4400000, 880000, FALSE },
    { NL,
      "Totaal excl. btw;;;44000,00\n"
      "\"B.T.W. 21 %\";;;8800,00\n"
      "Totaal incl. btw;;;52800,00\n",
      4400000, 880000, FALSE },
    { NL,
      "Totaal excl. btw;;;44000,00\n"
      "\"Omzetbelasting 21%\";;;8800,00\n"
      "Totaal incl. btw;;;52800,00\n",
      4400000, 880000, FALSE },
    { PL,
      "Razem netto;;;44000,00\n"
      "\"Podatek VAT 23%\";;;8800,00\n"
      "Razem brutto;;;52800,00\n",
      4400000, 880000, FALSE },
    { PL,
      "Razem netto;;;44000,00\n"
      "\"PTU A 23%\";;;8800,00\n"
      "Razem brutto;;;52800,00\n",
      4400000, 880000, FALSE },
    { PL,
      "Razem netto;;;44000,00\n"
      "\"Kwota VAT (23%)\";;;8800,00\n"
      "Razem brutto;;;52800,00\n",
      4400000, 880000, FALSE },
    { PT,
      "Subtotal;;;44000,00\n"
      "\"I.V.A. 23%\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { PT,
      "Subtotal;;;44000,00\n"
      "\"Imposto (23 %)\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { PT,
      "Subtotal;;;44000,00\n"
      "\"ICMS 18%\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { PT,
      "Subtotal;;;44000,00\n"
      "\"IPI 10 %\";;;8800,00\n"
      "Total;;;52800,00\n",
      4400000, 880000, FALSE },
    { IT,
      "Imponibile;;;44000,00\n"
      "\"I.V.A. al 22%\";;;8800,00\n"
      "Totale;;;52800,00\n",
      4400000, 880000, FALSE },
    { IT,
      "Imponibile;;;44000,00\n"
      "\"Imposta 22 %\";;;8800,00\n"
      "Totale;;;52800,00\n",
      4400000, 880000, FALSE },
    { IT,
      "Imponibile;;;44000,00\n"
      "\"IVA 22% (scissione dei pagamenti, art. 17-ter)\";;;8800,00\n"
      "Totale;;;52800,00\n",
      4400000, 880000, FALSE },
    { IT,
      "Imponibile;;;44000,00\n"
      "\"IVA 22% in regime di split payment\";;;8800,00\n"
      "Totale;;;52800,00\n",
      4400000, 880000, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i]);
}

/* What a sentence below the table says of its prices. */
static void
test_sentences (void)
{
  static const struct
  {
    Language language;
    const char *sentence;
    QmTristate included;
  } cases[] = {
    { EN, "Prices do not include VAT.", QM_NO },
    { EN, "Prices include VAT.", QM_YES },
    { EN, "All prices are exclusive of VAT.", QM_NO },
    { EN, "VAT is not included in the prices.", QM_NO },
    { DE, "Die Preise enthalten keine MwSt.", QM_NO },
    { DE, "In den Preisen ist die gesetzliche MwSt. nicht enthalten.", QM_NO },
    { DE, "Preise enthalten die MwSt. nicht.", QM_NO },
    { FR, "Les prix ne comprennent pas la TVA.", QM_NO },
    { FR, "Prix TVA non comprise", QM_NO },
    { FR, "Les prix comprennent la TVA.", QM_YES },
    { ES, "Los precios no incluyen IVA.", QM_NO },
    { ES, "Los precios incluyen IVA.", QM_YES },
    { IT, "I prezzi non comprendono l'IVA.", QM_NO },
    { IT, "Prezzi IVA inclusa.", QM_YES },
    { NL, "Prijzen zijn niet inclusief btw.", QM_NO },
    { NL, "De prijzen bevatten geen btw.", QM_NO },
    { PL, "Ceny nie zawierają VAT.", QM_NO },
    { PT, "Os preços apresentados não incluem IVA à taxa legal em vigor.",
      QM_NO },
    { PT, "Os preços incluem IVA.", QM_YES },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *below =
          g_strdup_printf ("Total;;;44000,00\n%s;;;\n", cases[i].sentence);
      g_autoptr (GPtrArray) quotes = read_below (cases[i].language, below);
      const QmQuote *quote = g_ptr_array_index (quotes, 0);

      if (quote->tax_included != cases[i].included)
        g_error ("%s", cases[i].sentence);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quote-tax/totals", test_totals);
  g_test_add_func ("/quote-tax/names", test_names);
  g_test_add_func ("/quote-tax/sentences", test_sentences);
  return g_test_run ();
}
