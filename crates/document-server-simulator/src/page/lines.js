// Differences between lists of lines, and the position of a change after another one.

export function difference(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) {
    start += 1;
  }
  let end = 0;
  while (end < before.length - start && end < after.length - start
    && before[before.length - 1 - end] === after[after.length - 1 - end]) {
    end += 1;
  }
  return { start, removed: before.length - start - end, lines: after.slice(start, after.length - end) };
}

export function isNothing(change) {
  return change.removed === 0 && change.lines.length === 0;
}

// The rule of the server: a change behind another one moves; on the same line the later change wins.
export function moved(change, earlier) {
  if (earlier.start + earlier.removed > change.start) {
    return change;
  }
  return { ...change, start: change.start - earlier.removed + earlier.lines.length };
}

export function applied(lines, change) {
  const start = Math.min(change.start, lines.length);
  const rest = lines.slice(start + change.removed);
  return [...lines.slice(0, start), ...change.lines, ...rest];
}

// Returns the caret position after lines above it were added or removed.
export function movedCaret(text, caret, change) {
  const before = text.slice(0, caret).split('\n');
  const line = before.length - 1;
  if (change.start + change.removed > line) {
    return { line, column: before[line].length };
  }
  return { line: line - change.removed + change.lines.length, column: before[line].length };
}

export function position(lines, { line, column }) {
  const at = Math.max(0, Math.min(line, lines.length - 1));
  const before = lines.slice(0, at).reduce((sum, text) => sum + text.length + 1, 0);
  return before + Math.min(column, (lines[at] || '').length);
}
