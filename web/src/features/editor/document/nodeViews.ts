// Nodes that need more than their element: check boxes, pictures of the document, footnotes and islands.
import type { Node } from "prosemirror-model";
import type { EditorView, NodeView, NodeViewConstructor } from "prosemirror-view";

/** Texts and addresses that the nodes show. */
export interface NodeContext {
  imageUrl: (id: string) => string;
  text: {
    checkbox: string;
    missingImage: string;
    noAlt: string;
    footnote: (text: string) => string;
    pageBreak: string;
    /** Name of a kind of element that cannot be edited here. */
    island: (kind: string) => string;
    islandHint: string;
  };
  /** A footnote or picture was activated. */
  onEdit: (kind: "footnote" | "image", at: number) => void;
}

type Position = () => number | undefined;

class CheckItemView implements NodeView {
  readonly dom = document.createElement("li");
  readonly contentDOM = document.createElement("div");
  readonly #box = document.createElement("input");

  constructor(node: Node, view: EditorView, position: Position, context: NodeContext) {
    this.#box.type = "checkbox";
    this.#box.contentEditable = "false";
    this.#box.setAttribute("aria-label", context.text.checkbox);
    this.#box.addEventListener("mousedown", (event) => event.preventDefault());
    this.#box.addEventListener("click", (event) => {
      const at = position();
      if (at === undefined || !view.editable) {
        event.preventDefault();
        return;
      }
      const checked = view.state.doc.nodeAt(at)?.attrs["checked"] !== true;
      view.dispatch(view.state.tr.setNodeAttribute(at, "checked", checked));
    });
    this.dom.append(this.#box, this.contentDOM);
    this.update(node);
  }

  update(node: Node): boolean {
    if (node.type.name !== "check_item") return false;
    this.#box.checked = node.attrs["checked"] === true;
    this.dom.dataset.checked = String(node.attrs["checked"]);
    return true;
  }

  stopEvent(event: Event): boolean {
    return event.target === this.#box;
  }

  ignoreMutation(mutation: { target: unknown }): boolean {
    return mutation.target === this.#box || mutation.target === this.dom;
  }
}

class ImageView implements NodeView {
  readonly dom = document.createElement("span");
  readonly #image = document.createElement("img");

  constructor(
    node: Node,
    private readonly context: NodeContext,
    position: Position,
  ) {
    this.dom.className = "picture";
    this.dom.append(this.#image);
    // A picture in a format that browsers do not show, or that is gone: its description takes its place.
    this.#image.addEventListener("error", () => this.dom.classList.add("missing"));
    this.#image.addEventListener("dblclick", () => {
      const at = position();
      if (at !== undefined) context.onEdit("image", at);
    });
    this.update(node);
  }

  update(node: Node): boolean {
    if (node.type.name !== "image") return false;
    const { src, alt, width, height } = node.attrs as {
      src: string;
      alt: string;
      width: number | null;
      height: number | null;
    };
    const url = this.context.imageUrl(src);
    if (this.#image.getAttribute("src") !== url) {
      this.dom.classList.remove("missing");
      this.#image.src = url;
    }
    this.#image.alt = alt;
    this.dom.dataset.alt = alt === "" ? this.context.text.missingImage : alt;
    this.dom.classList.toggle("undescribed", alt === "");
    this.dom.dataset.hint = this.context.text.noAlt;
    for (const [name, value] of [
      ["width", width],
      ["height", height],
    ] as const) {
      if (value === null) this.#image.removeAttribute(name);
      else this.#image.setAttribute(name, String(value));
    }
    return true;
  }

  ignoreMutation(): boolean {
    return true;
  }
}

function newFootnote(node: Node, context: NodeContext, position: Position): NodeView {
  const dom = document.createElement("span");
  dom.className = "footnote";
  dom.setAttribute("role", "note");
  const update = ({ type, attrs }: Node) => {
    if (type.name !== "footnote") return false;
    const label = context.text.footnote(attrs["text"] as string);
    dom.setAttribute("aria-label", label);
    dom.title = attrs["text"] as string;
    return true;
  };
  update(node);
  dom.addEventListener("dblclick", () => {
    const at = position();
    if (at !== undefined) context.onEdit("footnote", at);
  });
  return { dom, update, ignoreMutation: () => true };
}

/** What only the original program can edit: it is shown with its name, and can be moved and deleted. */
function newIsland(node: Node, context: NodeContext): NodeView {
  const isBlock = !node.isInline;
  const dom = document.createElement(isBlock ? "div" : "span");
  dom.className = "island";
  const name = document.createElement("strong");
  const { label, kind } = node.attrs as { label: string; kind: string };
  name.textContent = context.text.island(kind);
  dom.append(name);
  if (label !== "") dom.append(` ${label}`);
  dom.title = context.text.islandHint;
  if (isBlock) {
    const hint = document.createElement("span");
    hint.textContent = context.text.islandHint;
    dom.append(hint);
  }
  return { dom, ignoreMutation: () => true };
}

function newPageBreak(context: NodeContext): NodeView {
  const dom = document.createElement("div");
  dom.className = "page-break";
  dom.setAttribute("role", "separator");
  dom.setAttribute("aria-label", context.text.pageBreak);
  const label = document.createElement("span");
  label.dataset.label = context.text.pageBreak;
  dom.append(label);
  return { dom, ignoreMutation: () => true };
}

export const nodeViews = (context: NodeContext): Record<string, NodeViewConstructor> => ({
  check_item: (node, view, position) => new CheckItemView(node, view, position, context),
  image: (node, _view, position) => new ImageView(node, context, position),
  footnote: (node, _view, position) => newFootnote(node, context, position),
  island_block: (node) => newIsland(node, context),
  island_inline: (node) => newIsland(node, context),
  page_break: () => newPageBreak(context),
});
