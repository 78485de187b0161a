"""The guides of docs/guides as articles of the documentation, and the front page above them and the modules."""
import glob
import json
import os
import re
import shutil

# The page that leads to all others.
FRONT = "docs/site/front-page.md"
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)


def slug(heading):
    """The anchor of a heading in Markdown."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchor(heading):
    """The anchor of a heading in DocC."""
    return re.sub(r"[\"'`,:;.?!()…]", "", heading).replace(" ", "-")


def headings(text):
    return re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.M)


def article(text, anchors):
    """A guide whose links lead to articles of the site. A link to another file of the tree becomes the name of the file."""
    def change(match):
        words, (page, _, part) = match[1].replace("\n", " "), match[2].partition("#")
        if page.startswith("http"):
            return match[0]
        name = os.path.basename(page).removesuffix(".md")
        if page and name not in anchors or "/" in page:
            path = os.path.normpath(os.path.join("docs/guides", page))
            return f"{words} (`{path}`)"
        target = f"doc:{name}" if name else "doc:"
        return f"[{words}]({target}{'#' + anchors[name or None][part] if part else ''})"
    return "".join(piece if piece.startswith("```") else LINK.sub(change, piece) for piece in FENCE.split(text))


def write(root, catalog):
    """Writes the catalog that DocC reads, and returns its path."""
    shutil.rmtree(catalog, ignore_errors=True)
    os.makedirs(catalog)
    texts = {}
    # The front page is the index there.
    for path in set(glob.glob(f"{root}/docs/guides/*.md")) - {f"{root}/docs/guides/README.md"}:
        with open(path, encoding="utf-8") as file:
            texts[os.path.basename(path)[:-3]] = file.read()
    anchors = {name: {slug(heading): anchor(heading) for heading in headings(text)} for name, text in texts.items()}
    for name, text in texts.items():
        # A link without a page leads into the same one.
        own = {**anchors, None: anchors[name]}
        with open(f"{catalog}/{name}.md", "w", encoding="utf-8") as file:
            file.write(article(text.replace("](#", f"]({name}.md#"), own))
    shutil.copy(f"{root}/{FRONT}", f"{catalog}/Guides.md")
    return catalog


def be_front_page(site):
    """Puts the page above all in the place of the grid that DocC makes when it merges."""
    with open(f"{site}/data/documentation/guides.json", encoding="utf-8") as file:
        page = json.load(file)
    with open(f"{site}/data/documentation.json", encoding="utf-8") as file:
        grid = json.load(file)
    page["identifier"] = grid["identifier"]
    with open(f"{site}/data/documentation.json", "w", encoding="utf-8") as file:
        json.dump(page, file)
