"""A preprocessor of mdBook: links out of `docs/` lead to the repository, where their files are."""

import json
import posixpath
import re
import sys

REPOSITORY = "https://github.com/crosier-hooks/crosier/blob/main/"
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")


def rewrite(text, page):
    """Rewrites the links of one page; `page` is its path below `docs/`."""

    def outside(match):
        target = match.group(2)
        if "://" in target or target.startswith("mailto:"):
            return match.group(0)
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
        if path.startswith("docs/"):
            # mdBook calls the first page of a folder by this name.
            inside = re.sub(r"(^|/)README\.md$", r"\1index.md", target)
            return f"{match.group(1)}{inside}{match.group(3) or ''}{match.group(4)}"
        return f"{match.group(1)}{REPOSITORY}{path}{match.group(3) or ''}{match.group(4)}"

    return LINK.sub(outside, text)


def walk(items):
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter:
            if chapter.get("source_path"):
                chapter["content"] = rewrite(chapter["content"], chapter["source_path"])
            walk(chapter["sub_items"])


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    _context, book = json.load(sys.stdin)
    walk(book.get("items") or book.get("sections") or [])
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
