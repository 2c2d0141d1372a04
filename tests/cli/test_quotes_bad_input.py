# SPDX-License-Identifier: Apache-2.0
"""quartermaster quotes: of what cannot be trusted nothing is stored."""

import os
import sqlite3

import harness
from quotes import OFFER, SAMPLES, QuotesTest

ASK = ("--model", "pythia-1b", "--times", "published", "--budget", "150k")


class BadInputTest(QuotesTest):
    def test_documents(self):
        ubl = ('xmlns="urn:oasis:names:specification:ubl:schema:xsd:'
               'Quotation-2"')
        bomb = "".join('<!ENTITY a%d "%s">' % (i, "&a%d;" % (i - 1) * 10)
                       for i in range(1, 9))
        with open(os.path.join(SAMPLES, "server.xml"),
                  encoding="utf-8") as file:
            whole = file.read()
        documents = {
            "empty": "",
            "blank": "   \n",
            "nul.csv": b"a,b\0,c\n1,2,3\n",
            "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(100),
            "offer.pdf": b"%PDF-1.7\n" + bytes(100),
            "table.xlsx": b"PK\x03\x04" + bytes(100),
            "cut.xml": whole[:2000],
            "order.xml": '<Order xmlns="urn:oasis:names:specification:ubl:'
                         'schema:xsd:Order-2"/>',
            "external.xml": '<!DOCTYPE q [<!ENTITY x SYSTEM '
                            '"file:///etc/passwd">]><Quotation %s>&x;'
                            '</Quotation>' % ubl,
            "bomb.xml": '<!DOCTYPE q [<!ENTITY a0 "ha">%s]><Quotation %s>'
                        '&a8;</Quotation>' % (bomb, ubl),
            "deep.xml": "<Quotation %s>%s" % (ubl, "<a>" * 100000),
            "deep.json": "[" * 100000,
            "other.json": '{"format": "something else", "quotes": []}',
            "list.json": "[1, 2, 3]",
            "mixed.csv": OFFER.replace("0.10;USD", "0.10;EUR"),
            "header.csv": OFFER.splitlines()[0] + "\n",
            "open.csv": 'item,price\n"never closed,1\n',
            "invoice.html": "<html><body>Nothing</body></html>",
        }
        for name, data in documents.items():
            with self.subTest(name=name):
                self.refuse_quotes("import", self.write(name, data),
                                   says="" if name == "blank" else name)
        self.assertFalse(os.path.exists(self.store_path()))

    def test_large_documents(self):
        with open(self.path("large.xml"), "wb") as file:
            file.write(b"<Quotation>")
            file.truncate(1 << 31)
        with open(self.path("large.csv"), "wb") as file:
            file.write(b"item,price\n")
            for _ in range(100):
                file.write(b"a,1\n" * 200000)
        for name in ("large.xml", "large.csv"):
            self.refuse_quotes("import", self.path(name), says=name)

    def test_files(self):
        self.refuse_quotes("import", "nowhere.xml", says="nowhere.xml")
        self.refuse_quotes("import", self.home, says="directory")
        self.refuse_quotes("import", says="needed")
        self.refuse_quotes("import", "ftp://localhost/a.csv", says="ftp")
        self.refuse_quotes("import", "file:///etc/passwd", says="file")
        if os.getuid() != 0:
            path = self.write("secret.csv", OFFER)
            os.chmod(path, 0)
            self.refuse_quotes("import", path, says="secret.csv")

    def test_arguments(self):
        for arguments, says in (
                (("impotr",), "did you mean 'import'"),
                (("list", "--sort", "price"), "choose"),
                (("list", "--valid-on", "tomorrow"), "2026-12-31"),
                (("list", "--limit", "0"), "--limit"),
                (("list", "all"), "unexpected"),
                (("show",), "number"), (("show", "x"), "'x'"),
                (("show", "1", "2"), "one quote"),
                (("show", "77"), "no quote 77"),
                (("compare", "1"), "2 to 4"),
                (("compare", "1", "2", "3", "4", "5"), "2 to 4"),
                (("export", "1"), "--format"),
                (("export", "1", "--format", "doc"), "doc"),
                (("delete",), "number"), (("delete", "0"), "'0'"),
                (("delete", "5"), "no quote 5"),
                (("restore", "5"), "no deleted quote 5"),
                (("rates",), "update"), (("rates", "guess"), "update"),
                (("rates", "show", "EURO"), "EURO"),
                (("rates", "show", "EUR", "XYZ"), "XYZ"),
                (("rates", "show", "EUR", "USD", "DKK"), "two"),
                (("rates", "update", "EUR"), "neither"),
                (("history",), "needed"), (("history", "h1000"), "h1000"),
                (("fetch",), "--add"), (("fetch", "--item", "l40s"), "--add"),
                (("fetch", "--add", "ftp://a/"), "ftp"),
                (("fetch", "--add", "http://a/", "--item", "x"), "'x'"),
                (("fetch", "http://127.0.0.1/"), "not watched"),
                (("fetch", "--remove", "http://a/"), "not watched"),
                (("fetch", "--list", "--remove", "http://a/"), "exclude")):
            with self.subTest(arguments=arguments):
                self.refuse_quotes(*arguments, says=says)

    def test_stores(self):
        number, = self.add()
        other = self.path("notes.sqlite")
        base = sqlite3.connect(other)
        base.execute("CREATE TABLE notes (text TEXT)")
        base.close()
        self.refuse("quotes", "list", "--store", other, says="notes.sqlite")
        self.refuse("quotes", "import", self.path("offer.csv"), "--store",
                    self.home)
        damaged = self.write("damaged.sqlite", os.urandom(8192))
        self.refuse("quotes", "list", "--store", damaged,
                    says="damaged.sqlite")
        base = sqlite3.connect(self.store_path())
        base.execute("PRAGMA user_version = 99")
        base.close()
        self.refuse("quotes", "show", str(number), says="newer")
        self.refuse("advise", *ASK, says="newer")
        self.ask(*ASK, "--no-quotes")

    def test_no_space_for_output(self):
        number, = self.add()
        with open("/dev/full", "wb") as full:
            result = self.run_program("quotes", "show", str(number),
                                      stdout=full, expect=2)
        self.assertIn("cannot write", result.complaint)


if __name__ == "__main__":
    harness.main()
