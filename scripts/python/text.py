"""What the index does not know: where a function ends, and how a closure is written."""
import re

SKIPPED = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?P<hashes>#*)"""(?:.*?)"""(?P=hashes)|(?P<h>#*)"(?:\\.|[^"\\\n])*"(?P=h)', re.S)


def code(source):
    """The source without its comments and the contents of its strings, each character else in its place."""
    return SKIPPED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def matching(text, start):
    """The position after the bracket that closes the one at `start`."""
    depth = 0
    for position in range(start, len(text)):
        if text[position] in "([{":
            depth += 1
        elif text[position] in ")]}":
            depth -= 1
            if depth == 0:
                return position + 1
    return len(text)


def function(text, line):
    """Head and body of the function that is declared in a line of `text`, which is the result of `code`; or None."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    position = start
    match = re.compile(r"\b(?:func\s+[^\s(<]+|init[?!]?|subscript)").search(text, start)
    if not match or match.start() > start + 400:
        return None
    position = match.end()
    while position < len(text):
        if text[position] in "([":
            position = matching(text, position)
        elif text[position] == "{":
            end = matching(text, position)
            return text[match.start():position], text[position + 1:end - 1]
        elif text[position] == "}":
            return None    # A requirement of a protocol: it has no body.
        elif text.startswith("func ", position):
            return None
        else:
            position += 1
    return None


def statements(body):
    """The lines of a body that are in no bracket, each with what its brackets hold."""
    found, start, position = [], 0, 0
    while position < len(body):
        if body[position] in "([{":
            position = matching(body, position)
            continue
        if body[position] in "\n;":
            found.append(body[start:position].strip())
            start = position + 1
        position += 1
    return [one for one in [*found, body[start:].strip()] if one]


def parts(text):
    """The text between commas that are in no bracket."""
    depth, found, current = 0, [], ""
    for index, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or (character == ">" and text[index - 1:index] != "-"):
            depth -= 1
        if character == "," and depth == 0:
            found.append(current)
            current = ""
        else:
            current += character
    return [part for part in [*found, current] if part.strip()]


def result(kind):
    """The type of what a function of a type gives back, without the `Result` around it; empty for none."""
    _, arrow, back = kind.rpartition("->")
    back = re.sub(r"\s+", " ", re.sub(r"\bwhere\b.*", "", back, flags=re.S)).strip()
    back = re.sub(r"^(?:sending|consuming)\s+", "", back)
    back = re.sub(r"^Result<(.*), [^,]*>$", r"\1", back)
    return "" if not arrow or back in ("Void", "()") else back


def closures(head):
    """The parameters of a function that are functions: {name: type}."""
    start = head.find("(")
    if start < 0:
        return {}
    found = {}
    for part in parts(head[start + 1:matching(head, start) - 1]):
        name, _, kind = part.partition(":")
        if "->" in kind:
            found[name.split()[-1]] = re.sub(r"\)\s*=.*", "", kind)
    return found


def own_result(head):
    """The type of what a function gives back."""
    start = head.find("(")
    return result(head[matching(head, start):]) if start >= 0 else ""
