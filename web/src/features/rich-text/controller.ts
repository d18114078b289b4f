// One open Markdown text: the ProseMirror view, and the text it was read from.
import { baseKeymap, chainCommands, setBlockType } from "prosemirror-commands";
import { dropCursor } from "prosemirror-dropcursor";
import { gapCursor } from "prosemirror-gapcursor";
import { history, redo, undo } from "prosemirror-history";
import { keymap } from "prosemirror-keymap";
import type { Node } from "prosemirror-model";
import { type Command, EditorState, Plugin, TextSelection, type Transaction } from "prosemirror-state";
import { Decoration, DecorationSet, EditorView, type NodeViewConstructor } from "prosemirror-view";

import { ATTACHMENT, pictureFile } from "../../components/pictureFile";
import { isWebAddress } from "../../forms/markdownEdits";
import {
  indent,
  insertBlock,
  insertBreak,
  linkAt,
  outdent,
  removeBlockFormat,
  splitItem,
  toggle,
  toggleList,
  toggleQuote,
} from "./commands";
import { markdownRules } from "./inputRules";
import { parseMarkdown } from "./parse";
import { cleanPastedHtml, plainTextSlice } from "./paste";
import { markType, nodeType, schema } from "./schema";
import { serializeMarkdown } from "./serialize";

export interface RichTextEvents {
  onChange: (markdown: string) => void;
  /** A change was rejected, because the text would be too long. */
  onTooLong: () => void;
  onLink: () => void;
  /** Alt-F10. */
  onToolbar: () => void;
  /** A picture was pasted or dropped; returns false if pictures cannot be added. */
  onPictureFile: (file: File) => boolean;
}

export type PictureUrls = Readonly<Record<string, string>>;

/** Shortcuts by the names of the buttons. */
export const KEYS = {
  bold: "Mod-b",
  italic: "Mod-i",
  link: "Mod-k",
  heading: "Mod-Alt-2",
  subheading: "Mod-Alt-3",
  number: "Mod-Shift-7",
  list: "Mod-Shift-8",
  quote: "Mod-Alt-q",
  indent: "Alt-Shift-ArrowRight",
  outdent: "Alt-Shift-ArrowLeft",
  undo: "Mod-z",
  redo: "Mod-Shift-z",
} as const;
export type ToolName = keyof typeof KEYS;

/** Makes the selected blocks headings, or paragraphs if they are that already. */
const toggleHeading =
  (level: number): Command =>
  (state, dispatch) => {
    const { parent } = state.selection.$from;
    const isOn = parent.type === nodeType("heading") && parent.attrs["level"] === level;
    return isOn
      ? setBlockType(nodeType("paragraph"))(state, dispatch)
      : setBlockType(nodeType("heading"), { level })(state, dispatch);
  };

export const COMMANDS: Record<Exclude<ToolName, "link">, Command> = {
  bold: toggle("strong"),
  italic: toggle("em"),
  heading: toggleHeading(2),
  subheading: toggleHeading(3),
  number: toggleList("ordered_list"),
  list: toggleList("bullet_list"),
  quote: toggleQuote,
  indent,
  outdent,
  undo,
  redo,
};

/** The levels of headings as they are read aloud and shown: below the heading of the screen, without gaps. */
const headingLevels = new Plugin({
  props: {
    decorations: ({ doc }) => {
      const headings: { node: Node; at: number }[] = [];
      doc.descendants((node, at) => {
        if (node.type === nodeType("heading")) headings.push({ node, at });
        return !node.isTextblock;
      });
      const used = [...new Set(headings.map(({ node }) => node.attrs["level"] as number))].toSorted((a, b) => a - b);
      return DecorationSet.create(
        doc,
        headings.map(({ node, at }) =>
          Decoration.node(at, at + node.nodeSize, {
            "aria-level": String(Math.min(2 + used.indexOf(node.attrs["level"] as number), 6)),
          }),
        ),
      );
    },
  },
});

/** Characters as the service counts them. */
const lengthOf = (markdown: string): number => [...markdown.trim()].length;

/** Rows of pasted tables become lines. */
function tablesToLines(body: HTMLElement): void {
  for (const row of body.querySelectorAll("tr")) {
    const line = row.ownerDocument.createElement("p");
    line.textContent = [...row.children].map((cell) => cell.textContent.trim()).join(" – ");
    row.replaceWith(line);
  }
}

const imageOf = (data: DataTransfer | null): File | undefined =>
  [...(data?.files ?? [])].find(({ type }) => /^image\/(png|jpeg|gif|webp)$/.test(type));

export class RichTextController {
  #state: EditorState;
  #view: EditorView | undefined;
  /** The text that was read, from which unchanged blocks are kept. */
  #text: string;
  #original: ReturnType<typeof parseMarkdown>;
  /** The current text. */
  #markdown: string;
  #pictures: PictureUrls = {};
  readonly #events: RichTextEvents;
  readonly #maxLength: number;
  readonly #rawLabel: string;
  readonly #plugins: readonly Plugin[];
  readonly #listeners = new Set<() => void>();

  constructor(value: string, events: RichTextEvents, { maxLength, rawLabel }: { maxLength: number; rawLabel: string }) {
    this.#events = events;
    this.#maxLength = maxLength;
    this.#rawLabel = rawLabel;
    this.#plugins = this.#createPlugins();
    this.#text = value;
    this.#markdown = value;
    this.#original = parseMarkdown(value);
    this.#state = this.#createState();
  }

  get state(): EditorState {
    return this.#state;
  }

  /** For `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  mount(element: HTMLElement): void {
    this.#view = new EditorView(element, {
      state: this.#state,
      dispatchTransaction: (transaction) => this.#dispatch(transaction),
      nodeViews: this.#nodeViews(),
      transformPastedHTML: (html) => cleanPastedHtml(html, tablesToLines),
      clipboardTextParser: (text, $context) => plainTextSlice(text, $context),
      handlePaste: (_view, { clipboardData }) => {
        const isText = clipboardData?.types.some((type) => type.startsWith("text/")) === true;
        const file = isText ? undefined : imageOf(clipboardData);
        return file !== undefined && this.#events.onPictureFile(file);
      },
      handleDrop: (view, { dataTransfer, clientX, clientY }) => {
        const file = imageOf(dataTransfer);
        if (file === undefined) return false;
        const at = view.posAtCoords({ left: clientX, top: clientY })?.pos;
        if (at !== undefined)
          this.#dispatch(this.#state.tr.setSelection(TextSelection.near(this.#state.doc.resolve(at))));
        // A file that is not taken must not replace the page.
        return this.#events.onPictureFile(file) || dataTransfer?.types.includes("text/html") !== true;
      },
    });
  }

  destroy(): void {
    this.#view?.destroy();
    this.#view = undefined;
  }

  setAttributes(attributes: Record<string, string>): void {
    this.#view?.setProps({ attributes });
  }

  /** Shows pictures with their current addresses. */
  setPictures(urls: PictureUrls): void {
    const names = Object.keys(urls);
    if (
      names.length === Object.keys(this.#pictures).length &&
      names.every((name) => urls[name] === this.#pictures[name])
    )
      return;
    this.#pictures = urls;
    this.#view?.setProps({ nodeViews: this.#nodeViews() });
  }

  /** Replaces the text, if it was changed elsewhere. */
  setValue(value: string): void {
    if (value === this.#markdown) return;
    this.#text = value;
    this.#markdown = value;
    this.#original = parseMarkdown(value);
    this.#update(this.#createState());
  }

  /** Runs a command and returns the focus to the text. */
  run(command: Command): void {
    command(this.#state, (transaction) => this.#dispatch(transaction), this.#view);
    this.focus();
  }

  focus(): void {
    this.#view?.focus();
  }

  /** The words and the address that a dialog for links begins with. */
  selectedLink(): { words: string; address: string | undefined } {
    const { from, to, address } = this.#linkRange();
    return { words: this.#state.doc.textBetween(from, to, " ", " "), address };
  }

  #linkRange(): { from: number; to: number; address: string | undefined } {
    const { selection } = this.#state;
    const known = linkAt(this.#state);
    const { from, to } = selection.empty && known !== undefined ? known : selection;
    return { from, to, address: known?.href };
  }

  /** Links the selection, or the link at the cursor. Other words than the selected ones replace them. */
  setLink(words: string, address: string): void {
    const { from, to } = this.#linkRange();
    const selected = this.#state.doc.textBetween(from, to, " ", " ");
    const mark = markType("link").create({ href: address.trim() });
    this.run(({ tr, doc }, dispatch) => {
      if (from < to && (words.trim() === "" || words === selected))
        tr.removeMark(from, to, mark.type).addMark(from, to, mark);
      else tr.replaceWith(from, to, schema.text(words.trim() || address, mark.addToSet(doc.resolve(from).marks())));
      tr.setSelection(TextSelection.create(tr.doc, tr.mapping.map(to)));
      dispatch?.(tr.removeStoredMark(mark.type).scrollIntoView());
      return true;
    });
  }

  removeLink(): void {
    const { from, to } = this.#linkRange();
    this.run(({ tr }, dispatch) => {
      dispatch?.(tr.removeMark(from, to, markType("link")));
      return true;
    });
  }

  /** Inserts a picture of the topic's files, in a paragraph of its own. */
  insertPicture(alt: string, fileName: string): void {
    const image = nodeType("image").create({ src: `${ATTACHMENT}${encodeURIComponent(fileName)}`, alt: alt.trim() });
    this.run(insertBlock(nodeType("paragraph").create(null, image)));
  }

  #dispatch(transaction: Transaction): void {
    const next = this.#state.apply(transaction);
    if (!transaction.docChanged) {
      this.#update(next);
      return;
    }
    const markdown = serializeMarkdown(next.doc, this.#text, this.#original);
    const isLong = markdown.length > this.#maxLength && lengthOf(markdown) > this.#maxLength;
    if (isLong && lengthOf(markdown) > lengthOf(this.#markdown)) {
      this.#update(this.#state);
      this.#events.onTooLong();
      return;
    }
    this.#update(next);
    if (markdown === this.#markdown) return;
    this.#markdown = markdown;
    this.#events.onChange(markdown);
  }

  #update(state: EditorState): void {
    this.#state = state;
    this.#view?.updateState(state);
    for (const listener of this.#listeners) listener();
  }

  #createState(): EditorState {
    return EditorState.create({ doc: this.#original.doc, plugins: this.#plugins });
  }

  #createPlugins(): Plugin[] {
    const keys: Record<string, Command> = {
      Enter: splitItem,
      "Shift-Enter": insertBreak,
      Backspace: removeBlockFormat(setBlockType(nodeType("paragraph"))),
      "Mod-y": redo,
      "Mod-e": toggle("code"),
      "Mod-Alt-0": setBlockType(nodeType("paragraph")),
      [KEYS.link]: () => {
        this.#events.onLink();
        return true;
      },
      "Alt-F10": () => {
        this.#events.onToolbar();
        return true;
      },
    };
    for (const [name, command] of Object.entries(COMMANDS)) {
      const key = KEYS[name as ToolName];
      keys[key] = keys[key] === undefined ? command : chainCommands(keys[key], command);
    }
    return [
      markdownRules(schema, isWebAddress),
      keymap(keys),
      keymap(baseKeymap),
      history(),
      dropCursor({ color: "var(--color-accent)", width: 2 }),
      gapCursor(),
      headingLevels,
    ];
  }

  /** New functions make the view draw all pictures again. */
  #nodeViews(): Record<string, NodeViewConstructor> {
    const urls = this.#pictures;
    return {
      image: ({ attrs }) => {
        const { src, alt } = attrs as { src: string; alt: string };
        const name = pictureFile(src);
        const url = urls[name ?? ""];
        const dom = document.createElement(url === undefined ? "span" : "img");
        if (dom instanceof HTMLImageElement) {
          dom.src = url ?? "";
          dom.alt = alt;
        } else dom.textContent = alt || (name ?? src);
        dom.className = url === undefined ? "missing" : "picture";
        return { dom };
      },
      raw_block: ({ attrs }) => {
        const dom = document.createElement("div");
        dom.className = "raw";
        const label = document.createElement("p");
        label.textContent = this.#rawLabel;
        const source = document.createElement("pre");
        source.textContent = attrs["source"] as string;
        dom.append(label, source);
        return { dom };
      },
    };
  }
}
