"""Checks every link of a built site: the page is there, and so is the heading. Prints what is missing."""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links and the ids of one page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag in ("img", "script") and attributes.get("src"):
            self.links.append(attributes["src"])
        if attributes.get("id"):
            self.ids.add(attributes["id"])


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    # print.html is all pages in one; its links are theirs.
    names = [name for name in root.rglob("*.html") if name.name not in ("print.html", "toc.html", "404.html")]
    pages = {name: Page(name.read_text(encoding="utf-8")) for name in names}
    bad, checked = [], 0
    for name, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            checked += 1
            path = urllib.parse.unquote(parts.path)
            target = (name.parent / path).resolve() if path else name
            if target.is_dir():
                target = target / "index.html"
            if not target.is_file():
                bad.append(f"{name.relative_to(root)}: {link}: there is no such file")
            elif parts.fragment and target in pages:
                if urllib.parse.unquote(parts.fragment) not in pages[target].ids:
                    bad.append(f"{name.relative_to(root)}: {link}: there is no such heading")
    print("\n".join(bad) if bad else f"{len(pages)} pages, {checked} links, all lead somewhere")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
