#!/usr/bin/env python3
"""Writes the list of frequent passwords that are rejected: crates/better-auth/src/frequent-passwords.txt.

The words come from the source of the crate zxcvbn (MIT), fetched by cargo; give its folder:

    cargo new /tmp/words && cd /tmp/words && cargo add zxcvbn && cargo fetch
    scripts/make-password-list.py ~/.cargo/registry/src/*/zxcvbn-*

Words with fewer than 8 characters are omitted because they are too short anyway, and so are those in
common-passwords.txt, which is written by hand.
"""

import pathlib
import re
import sys

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "crates" / "better-auth" / "src"
SHORTEST = 8


def words(crate):
    """The crate's list of leaked passwords, the most frequent first."""
    text = (crate / "src" / "frequency_lists.rs").read_text(encoding="utf-8")
    found = re.search(r'const PASSWORDS: &str = "([^"]*)";', text)
    if not found:
        sys.exit(f"{crate} has no list of passwords")
    return found.group(1).split(",")


def main():
    """Reads the crate, writes the list."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    own = set((SOURCES / "common-passwords.txt").read_text(encoding="utf-8").split("\n"))
    found = {word.strip().lower() for word in words(pathlib.Path(sys.argv[1]))}
    kept = sorted(word for word in found - own if len(word) >= SHORTEST)
    (SOURCES / "frequent-passwords.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")
    print(f"{len(kept)} words")


main()
