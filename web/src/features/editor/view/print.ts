// Prints the document alone: a copy of the text is put next to the page, which the styles for printing hide.
import type { EditorController } from "./controller";

export function printDocument({ view }: EditorController): void {
  if (view === undefined) return;
  const copy = document.createElement("div");
  copy.className = "print-only";
  const text = view.dom.cloneNode(true) as HTMLElement;
  for (const element of text.querySelectorAll(".remote-caret, .ProseMirror-trailingBreak, .ProseMirror-gapcursor"))
    element.remove();
  for (const element of text.querySelectorAll(".remote-selection, .match")) element.replaceWith(...element.childNodes);
  for (const attribute of ["contenteditable", "role", "aria-label", "aria-multiline", "aria-readonly", "tabindex"])
    text.removeAttribute(attribute);
  copy.append(text);
  document.body.append(copy);
  window.addEventListener("afterprint", () => copy.remove(), { once: true });
  window.print();
}
