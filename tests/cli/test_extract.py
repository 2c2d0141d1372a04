# SPDX-License-Identifier: Apache-2.0
"""quartermaster extract: prices of saved pages."""

import json
import os
import subprocess

import harness

KEYS = ["name", "price", "currency", "availability", "valid_until", "method",
        "confirmed", "seller", "sku", "mpn", "tax_included", "reason", "notes",
        "problems"]

PRODUCT = {
    "@context": "https://schema.org",
    "@type": "Product",
    "name": "Card X100",
    "sku": "S1",
    "mpn": "M1",
    "offers": {
        "@type": "Offer",
        "price": "1299.50",
        "priceCurrency": "EUR",
        "availability": "https://schema.org/InStock",
        "priceValidUntil": "2027-01-31",
        "seller": {"@type": "Organization", "name": "Shop Ltd"},
    },
}


def page(product=None, body=""):
    script = ("<script type=\"application/ld+json\">%s</script>"
              % json.dumps(product) if product else "")
    return ("<!DOCTYPE html><html><head><meta charset=utf-8>%s</head><body>"
            "<h1>Card X100</h1>%s</body></html>" % (script, body)).encode()


class ExtractTest(harness.CommandLineTest):
    def save(self, content, name="page.html"):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def extract(self, content, *arguments, expect=0):
        result = self.run_program("extract", self.save(content), "--json",
                                  *arguments, expect=expect)
        self.assertEqual(result.err, b"", str(result))
        self.assertEqual(list(result.json), KEYS)
        return result.json

    def test_price(self):
        offer = self.extract(page(PRODUCT, "<p class=price>1.299,50 €</p>"))
        self.assertEqual(offer, {
            "name": "Card X100", "price": 1299.5, "currency": "EUR",
            "availability": "InStock", "valid_until": "2027-01-31",
            "method": "json-ld", "confirmed": True, "seller": "Shop Ltd",
            "sku": "S1", "mpn": "M1", "tax_included": None, "reason": None,
            "notes": [], "problems": []})

    def test_no_price(self):
        offer = self.extract(page(), expect=1)
        self.assertEqual(offer["name"], "Card X100")
        self.assertTrue(offer["reason"])
        for key in ("price", "currency", "method", "confirmed"):
            self.assertIsNone(offer[key], key)

    def test_contradiction(self):
        offer = self.extract(page(PRODUCT, "<p class=price>999,00 €</p>"),
                             expect=1)
        self.assertIsNone(offer["price"])
        self.assertIn("different prices", offer["reason"])

    def test_text(self):
        path = self.save(page(PRODUCT))
        result = self.run_program("extract", path, expect=0)
        for words in ("Card X100", "€1,299.50", "JSON-LD", "Shop Ltd", "M1",
                      "2027-01-31"):
            self.assertIn(words, result.text, str(result))
        result = self.run_program("extract", self.save(page()), expect=1)
        self.assertIn("No price", result.text)

    def test_standard_input(self):
        for content, code in ((page(PRODUCT), 0), (page(), 1), (b"", 2)):
            done = subprocess.run([harness.PROGRAM, "extract", "-", "--json"],
                                  input=content, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, check=False,
                                  env=self.environment(), timeout=60)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_charset(self):
        content = ("<html><h1>Card</h1><button>Add to cart</button><b "
                   "class=price>12,50 €</b>").encode("utf-16-le")
        offer = self.extract(content, "--charset", "utf-16le")
        self.assertEqual((offer["price"], offer["currency"]), (12.5, "EUR"))

    def test_rules(self):
        rules = self.save(b"<rules version=\"1\"><site host=\"shop.example\" "
                          b"currency=\"EUR\" decimal=\"comma\"><price>//td"
                          b"</price></site></rules>", "rules.xml")
        content = page(body="<table><tr><td>1.299</td></tr></table>")
        self.assertIsNone(self.extract(content, "--rules", rules,
                                       expect=1)["price"])
        offer = self.extract(content, "--rules", rules, "--url",
                             "https://www.shop.example/x100")
        self.assertEqual((offer["price"], offer["method"]), (1299.0, "rule"))

    def test_own_rules(self):
        path = self.user_file("page-rules.xml",
                              "<rules version=\"1\"><site host=\"shop.example\""
                              " currency=\"EUR\"><price>//td</price></site>"
                              "</rules>")
        content = page(body="<table><tr><td>12.50</td></tr></table>")
        address = ("--url", "https://shop.example/")
        self.assertEqual(self.extract(content, *address)["price"], 12.5)
        self.user_file("page-rules.xml", "<rules version=\"1\">\n<site/></rules>")
        broken = self.run_program("extract", self.path("page.html"), expect=1)
        for word in (path, ":2:", "host"):
            self.assertIn(word, broken.complaint)

    def test_bad_input(self):
        good = self.save(page(PRODUCT))
        self.refuse("extract", says="one page")
        self.refuse("extract", good, good, says="one page")
        self.refuse("extract", self.path("none.html"), says="none.html")
        self.refuse("extract", self.home, says="cannot read")
        self.refuse("extract", good, "--url", "", says="--url")
        self.refuse("extract", good, "--url", "a", "--url", "b", says="--url")
        self.refuse("extract", good, "--rules", self.path("none.xml"),
                    says="none.xml")
        self.refuse("extract", good, "--rules", good, says="line 1")
        self.refuse("extract", good, "--currency", "EUR", says="--currency")
        for content in (b"", b"\x7fELF\x02\x01", b"just text",
                        b"{\"price\": 1}", b"<?xml version='1.0'?><Order/>"):
            self.refuse("extract", self.save(content, "bad"), says="bad")

    def test_too_large(self):
        path = self.save(b"<html>")
        os.truncate(path, 8 * 1024 * 1024 + 1)
        self.refuse("extract", path, says="8 MiB")
        os.truncate(path, 8 * 1024 * 1024)
        self.run_program("extract", path, expect=1)

    def test_never_steers_the_terminal(self):
        product = dict(PRODUCT, name="Card\x1b[31m\u202e X\n")
        result = self.run_program("extract", self.save(page(product)),
                                  expect=0)
        self.assertNotIn("\x1b", result.text)
        self.assertNotIn("\u202e", result.text)

    def test_other_languages(self):
        path = self.save(page(PRODUCT, "<p class=price>1.299,50 €</p>"))
        plain = self.run_program("extract", path, "--json", expect=0)
        german = self.run_program("extract", path, "--json", expect=0,
                                  env={"LC_ALL": "de_DE.UTF-8"})
        self.assertEqual(plain.out, german.out)


if __name__ == "__main__":
    harness.main()
