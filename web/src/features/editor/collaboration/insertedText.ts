import { ReplaceAroundStep, ReplaceStep, type Step } from "prosemirror-transform";

/** The text that steps insert, in the order of the steps; blocks are separated by line breaks. */
export function insertedText(steps: readonly Step[]): string {
  let text = "";
  for (const step of steps) {
    if (!(step instanceof ReplaceStep || step instanceof ReplaceAroundStep)) continue;
    const { content } = step.slice;
    text += content.textBetween(0, content.size, "\n", "");
  }
  return text;
}
