"""Compares the texts that LibreOffice and python-docx read from saved files with those of the originals.

Usage: compare-docx-corpus.py <folder of the originals> <work folder of check-docx-corpus>
"""

import difflib
import re
import sys
from pathlib import Path

import docx

MARK = "§¤§"
originals, work = Path(sys.argv[1]), Path(sys.argv[2])


def without_marks(text: str) -> str:
    return text.replace(MARK, "")


def libreoffice_text(folder: str, name: str) -> str | None:
    path = work / "text" / folder / f"{name}.txt"
    if not path.exists():
        return None
    # Clocks and dates of fields differ between two conversions.
    return re.sub(r"\d{1,2}:\d{2}(:\d{2})?", "", path.read_text(encoding="utf-8-sig", errors="replace"))


def python_text(path: Path) -> list[str]:
    """The text of all paragraphs, also of those in tables, in the order of the file."""
    body = docx.Document(str(path)).element.body
    word = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
    return [
        "".join(node.text or "" for node in paragraph.iter(f"{word}t"))
        for paragraph in body.iter(f"{word}p")
    ]


problems: list[str] = []
counts = {"files": 0, "LibreOffice reads": 0, "LibreOffice same text": 0, "python-docx reads": 0, "python-docx same text": 0}
marks = 0
for original in sorted(originals.glob("*.docx")):
    expected = libreoffice_text("original", original.stem)
    try:
        expected_paragraphs = python_text(original)
    except Exception as error:
        expected_paragraphs = None
        print(f"python-docx does not read the original {original.name}: {error}")
    if expected is None:
        print(f"LibreOffice does not read the original {original.name}")
    for kind, folder in (("unchanged", work / "saved" / "unchanged"), ("edited", work / "saved")):
        saved = folder / original.name
        counts["files"] += 1
        if expected is not None:
            text = libreoffice_text(kind, original.stem)
            if text is None:
                problems.append(f"{kind} {original.name}: LibreOffice does not read it")
            else:
                counts["LibreOffice reads"] += 1
                marks += text.count(MARK)
                if without_marks(text) == expected:
                    counts["LibreOffice same text"] += 1
                else:
                    lines = difflib.unified_diff(
                        expected.splitlines(), without_marks(text).splitlines(), lineterm="", n=0
                    )
                    problems.append(f"{kind} {original.name}: LibreOffice\n  " + "\n  ".join(list(lines)[:12]))
        if expected_paragraphs is not None:
            try:
                paragraphs = [without_marks(text) for text in python_text(saved)]
            except Exception as error:
                problems.append(f"{kind} {original.name}: python-docx: {error}")
                continue
            counts["python-docx reads"] += 1
            if paragraphs == expected_paragraphs:
                counts["python-docx same text"] += 1
            else:
                lines = difflib.unified_diff(expected_paragraphs, paragraphs, lineterm="", n=0)
                problems.append(f"{kind} {original.name}: python-docx\n  " + "\n  ".join(list(lines)[:12]))

for name, count in counts.items():
    print(f"{name}: {count}")
print(f"marks that LibreOffice shows: {marks}")
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
