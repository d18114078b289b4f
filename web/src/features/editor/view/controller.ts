// One open document: the ProseMirror view, its plugins, and the state that the React components around it show.
import { dropCursor } from "prosemirror-dropcursor";
import { gapCursor } from "prosemirror-gapcursor";
import { history } from "prosemirror-history";
import { keymap } from "prosemirror-keymap";
import { DOMSerializer, type Node } from "prosemirror-model";
import { type Command, EditorState, Plugin, TextSelection, type Transaction } from "prosemirror-state";
import { tableEditing } from "prosemirror-tables";
import { Decoration, DecorationSet, EditorView } from "prosemirror-view";

import { insertInline } from "../../rich-text/commands";
import { markdownRules } from "../../rich-text/inputRules";
import { plainTextSlice } from "../../rich-text/paste";
import type { Commit } from "../collaboration/commits";
import {
  commentPlugin,
  type CommentPassage,
  commentsOf,
  confirmedPassage,
  showComments,
  threadAt,
} from "../collaboration/commentPassages";
import {
  cursorPlugin,
  type CursorMessage,
  CursorTracker,
  cursorsOf,
  forgetOldCursors,
  ownCursor,
} from "../collaboration/cursors";
import { type AuthorityOf, EditingSession, type SaveState, type SessionIdentity } from "../collaboration/session";
import { holdRecord, type LocalStore, type Remainder } from "../collaboration/localStore";
import { collaboration, collaborationOf } from "../collaboration/unconfirmed";
import { type NodeContext, nodeViews } from "../document/nodeViews";
import { isLinkTarget, nodeType, schema } from "../document/schema";
import { findPlugin } from "../editing/find";
import { keyBindings, type UiAction } from "../editing/keys";
import { cleanHtml, cleanSlice, documentIds, isWithinLimits, parsePlainText } from "../editing/paste";

export interface DocumentStyle {
  id: string;
  name: string;
}

/** The document as the service returns it. */
export interface DocumentContent {
  doc: Node;
  version: number;
  /** Whether this page may change the document; false also where it is only read. */
  canEdit: boolean;
  /** Why the file cannot be edited without loss, as codes of the service. */
  readOnlyReasons: readonly string[];
  styles: readonly DocumentStyle[];
}

export interface UploadedImage {
  id: string;
  width: number;
  height: number;
}

/** Everything outside of the editor: network, storage, and the people of the group. */
export interface EditorServices {
  authorityOf: AuthorityOf;
  store: LocalStore;
  uploadImage: (file: File) => Promise<UploadedImage>;
  imageUrl: (id: string) => string;
  /** Tells the other pages where the own cursor is. */
  sendCursor: (cursor: { version: number; anchor: number | null; head: number | null }) => void;
  onCursor: (listener: (message: CursorMessage) => void) => () => void;
  /** Called while the user writes. */
  onTyping: () => void;
  colorOf: (userId: string) => number;
}

export type EditorTexts = NodeContext["text"] & { label: string; placeholder: string };

export type UiRequest =
  | { action: UiAction }
  | { action: "editImage" | "editFootnote"; at: number }
  | { action: "openThread"; threadId: string }
  | { action: "imageFailed"; error: unknown }
  | { action: "tooLarge" }
  | { action: "late" };

/** Passages of comments in one version of the document. */
export interface ListedPassages {
  generation: number;
  version: number;
  passages: readonly CommentPassage[];
}

const CURSOR_REPEAT_MS = 20_000;
const CURSOR_INTERVAL_MS = 120;

/** Initials of a name, at most two. */
export const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .filter((part) => part !== "")
    .map((part) => [...part][0]!)
    .filter((_, index, all) => index === 0 || index === all.length - 1)
    .join("")
    .toUpperCase();

/** Copies of headings have their true level: on the page they are one lower. */
const clipboardSerializer = new DOMSerializer(
  {
    ...DOMSerializer.nodesFromSchema(schema),
    heading: ({ attrs }) => [`h${String(attrs["level"])}`, { "data-level": attrs["level"] as number }, 0],
    table: () => ["table", ["tbody", 0]],
  },
  DOMSerializer.marksFromSchema(schema),
);

export class EditorController {
  readonly session: EditingSession;
  readonly content: DocumentContent;
  readonly identity: SessionIdentity;
  #state: EditorState;
  #view: EditorView | undefined;
  #saveState: SaveState = { kind: "saved" };
  #remainders: readonly Remainder[] = [];
  #uploads = 0;
  #isReady = false;
  #isFrozen = false;
  #following: string | undefined;
  readonly #services: EditorServices;
  readonly #texts: EditorTexts;
  readonly #tracker = new CursorTracker();
  readonly #listeners = new Set<() => void>();
  readonly #requests = new Set<(request: UiRequest) => void>();
  readonly #ends: (() => void)[] = [];
  /** Pictures and islands that were copied or dragged on this page: others belong to other documents. */
  readonly #copiedIds = new Set<string>();
  /** Comments that are not shown yet, because they refer to commits that have not arrived. */
  #listed: ListedPassages | undefined;
  #lastCursor = "";
  #cursorTimer: ReturnType<typeof setTimeout> | undefined;
  #snapshot = 0;

  constructor(content: DocumentContent, identity: SessionIdentity, services: EditorServices, texts: EditorTexts) {
    this.content = content;
    this.identity = identity;
    this.#services = services;
    this.#texts = texts;
    this.#state = EditorState.create({ doc: content.doc, plugins: this.#plugins() });
    this.session = new EditingSession(identity, services.authorityOf, services.store, {
      state: () => this.#state,
      update: (state) => this.#update(state),
      onSaveState: (state) => {
        this.#saveState = state;
        this.#notify();
      },
      onRemainder: (text) => void this.#keepRemainder(text),
      onLate: () => this.#request({ action: "late" }),
      onCommits: (commits) => this.#onCommits(commits),
    });
  }

  get state(): EditorState {
    return this.#state;
  }

  get view(): EditorView | undefined {
    return this.#view;
  }

  get saveState(): SaveState {
    return this.#saveState;
  }

  get remainders(): readonly Remainder[] {
    return this.#remainders;
  }

  get isUploading(): boolean {
    return this.#uploads > 0;
  }

  get isEditable(): boolean {
    return this.content.canEdit && this.#isReady && !this.#isFrozen && this.#saveState.kind !== "ended";
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** The client whose cursor the page follows. */
  get following(): string | undefined {
    return this.#following;
  }

  colorOf(userId: string): number {
    return this.#services.colorOf(userId);
  }

  /** For `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly getSnapshot = (): number => this.#snapshot;

  onRequest(listener: (request: UiRequest) => void): () => void {
    this.#requests.add(listener);
    return () => void this.#requests.delete(listener);
  }

  /** Puts the editor into an element and begins to collaborate. */
  mount(place: HTMLElement): void {
    const context: NodeContext = {
      imageUrl: this.#services.imageUrl,
      text: this.#texts,
      onEdit: (kind, at) => {
        if (this.isEditable) this.#request({ action: kind === "image" ? "editImage" : "editFootnote", at });
      },
    };
    this.#view = new EditorView(place, {
      state: this.#state,
      dispatchTransaction: (transaction) => this.#dispatch(transaction),
      editable: () => this.isEditable,
      nodeViews: nodeViews(context),
      clipboardSerializer,
      attributes: () => ({
        class: "document",
        role: "textbox",
        "aria-multiline": "true",
        "aria-label": this.#texts.label,
        "aria-readonly": String(!this.isEditable),
        tabindex: "0",
        spellcheck: "true",
        lang: (this.#state.doc.attrs["language"] as string | null) ?? document.documentElement.lang,
      }),
      transformPastedHTML: cleanHtml,
      transformCopied: (slice) => {
        for (const id of documentIds(slice)) this.#copiedIds.add(id);
        return slice;
      },
      transformPasted: (slice) =>
        cleanSlice(slice, {
          styles: new Set(this.content.styles.map(({ id }) => id)),
          isOwn: (id) => this.#copiedIds.has(id),
        }),
      clipboardTextParser: (text, $context, isPlain) =>
        (isPlain ? undefined : parsePlainText(text, schema)) ?? plainTextSlice(text, $context),
      handlePaste: (_view, event) => this.#addFiles(event.clipboardData),
      handleDrop: (view, event, _slice, isMoved) => {
        if (isMoved) return false;
        const at = view.posAtCoords({ left: event.clientX, top: event.clientY });
        return this.#addFiles(event.dataTransfer, at?.pos);
      },
      handleDOMEvents: { blur: () => this.#sendCursorSoon(), focus: () => this.#sendCursorSoon() },
    });
    void this.#begin();
  }

  async #begin(): Promise<void> {
    this.#ends.push(holdRecord(this.identity.clientId));
    await this.session.start();
    this.#isReady = true;
    const { userId, documentId } = this.identity;
    const kept = await this.#services.store.remainders(userId, documentId).catch(() => []);
    const isNew = ({ id }: Remainder) => !kept.some((one) => one.id === id);
    this.#remainders = [...kept, ...this.#remainders.filter(isNew)];
    this.#view?.setProps({});
    this.#watch();
    this.#notify();
  }

  #watch(): void {
    this.#ends.push(this.#services.onCursor((message) => this.#receiveCursor(message)));
    const repeat = setInterval(() => {
      this.#lastCursor = "";
      this.#sendCursorSoon();
      const forgotten = forgetOldCursors(this.#state, Date.now());
      if (forgotten !== undefined) this.#update(this.#state.apply(forgotten));
    }, CURSOR_REPEAT_MS);
    this.#ends.push(() => clearInterval(repeat));
    this.#sendCursorSoon();
  }

  destroy(): void {
    this.session.close();
    clearTimeout(this.#cursorTimer);
    for (const end of this.#ends.splice(0)) end();
    this.#view?.destroy();
    this.#view = undefined;
  }

  /** Blocks typing while the document is being submitted or locked, after everything was sent. */
  setFrozen(isFrozen: boolean): void {
    this.#isFrozen = isFrozen;
    this.#view?.setProps({});
    this.#notify();
  }

  /** Runs a command and returns the focus to the text. */
  run(command: Command, keepFocus = false): boolean {
    if (this.#view === undefined) return false;
    const result = command(this.#state, this.#view.dispatch, this.#view);
    if (!keepFocus) this.#view.focus();
    return result;
  }

  can(command: Command): boolean {
    return this.isEditable && command(this.#state);
  }

  dispatch(transaction: Transaction): void {
    this.#view?.dispatch(transaction);
  }

  focus(): void {
    this.#view?.focus();
  }

  /** Puts the cursor at a position and shows it. */
  goTo(at: number): void {
    this.dispatch(this.#state.tr.setSelection(TextSelection.near(this.#state.doc.resolve(at))).scrollIntoView());
    this.focus();
  }

  /** Scrolls the selection into view while the focus is elsewhere, as in the find bar. */
  reveal(): void {
    this.#scrollTo(this.#state.selection.from);
  }

  follow(clientId: string | undefined): void {
    this.#following = clientId;
    this.#scrollToFollowed();
    this.#notify();
  }

  /** Shows the passages of comments, once the commits that they refer to have arrived. */
  setComments(listed: ListedPassages): void {
    this.#listed = listed;
    this.#placeComments();
  }

  selectThread(active: string | undefined): void {
    if (commentsOf(this.#state).active !== active)
      this.#update(this.#state.apply(showComments(this.#state, { active })));
  }

  /** Marks the selection as the passage of a new comment; without a selection the comment is about the document. */
  beginComment(): void {
    const { from, to } = this.#state.selection;
    const hasText = this.#state.doc.textBetween(from, to).trim() !== "";
    this.#update(this.#state.apply(showComments(this.#state, { draft: hasText ? { from, to } : undefined })));
  }

  endComment(): void {
    if (commentsOf(this.#state).draft !== undefined)
      this.#update(this.#state.apply(showComments(this.#state, { draft: undefined })));
  }

  /** The passage of the new comment as the service knows it; everything unsent is sent before. */
  async passageOfComment(): Promise<{ generation: number; version: number; from: number; to: number } | null> {
    if (commentsOf(this.#state).draft === undefined) return null;
    await this.session.flush();
    const { draft } = commentsOf(this.#state);
    const passage = draft === undefined ? undefined : confirmedPassage(this.#state, draft);
    return passage === undefined ? null : { generation: this.identity.generation, ...passage };
  }

  /** Puts the cursor into the passage of a thread. */
  goToThread(threadId: string): void {
    const passage = commentsOf(this.#state).passages.find((one) => one.threadId === threadId);
    if (passage !== undefined) this.goTo(passage.from);
  }

  /** Shows the passage of a thread; the focus stays where it is. */
  revealThread(threadId: string): void {
    const passage = commentsOf(this.#state).passages.find((one) => one.threadId === threadId);
    if (passage !== undefined) this.#scrollTo(passage.from);
  }

  /** The thread at the cursor, if nothing is selected. */
  get threadAtCursor(): string | undefined {
    const { selection } = this.#state;
    return selection.empty ? threadAt(this.#state, selection.from) : undefined;
  }

  #placeComments(): void {
    if (this.#listed === undefined) return;
    const { generation, version, passages } = this.#listed;
    const isPresent = generation === this.identity.generation;
    const mapping = this.#tracker.mappingFrom(this.#state, version);
    if (isPresent && mapping === undefined) return;
    this.#listed = undefined;
    const limit = this.#state.doc.content.size;
    const placed = (isPresent ? passages : []).flatMap((passage) => {
      const from = mapping!.map(passage.from, 1);
      const to = Math.min(mapping!.map(passage.to, -1), limit);
      return from < to ? [{ ...passage, from, to }] : [];
    });
    this.#update(this.#state.apply(showComments(this.#state, { passages: placed })));
  }

  async addImages(files: readonly File[], at = this.#state.selection.from): Promise<void> {
    for (const file of files) {
      this.#uploads += 1;
      this.#notify();
      try {
        const { id, width, height } = await this.#services.uploadImage(file);
        const image = nodeType("image").create({ src: id, width: fitted(width), height: fitted(height, width) });
        const place = Math.min(at, this.#state.doc.content.size);
        const tr = this.#state.tr.setSelection(TextSelection.near(this.#state.doc.resolve(place)));
        insertInline(image)(this.#state.apply(tr), (transaction) => {
          for (const step of transaction.steps) tr.step(step);
        });
        this.dispatch(tr.scrollIntoView());
        const inserted = findImage(this.#state.doc, id);
        if (inserted !== undefined) this.#request({ action: "editImage", at: inserted });
      } catch (error) {
        this.#request({ action: "imageFailed", error });
      } finally {
        this.#uploads -= 1;
        this.#notify();
      }
    }
  }

  dismissRemainder(id: string): void {
    this.#remainders = this.#remainders.filter((one) => one.id !== id);
    void this.#services.store.removeRemainder(id).catch(() => undefined);
    this.#notify();
  }

  request(action: UiAction): void {
    this.#request({ action });
  }

  #plugins(): Plugin[] {
    return [
      markdownRules(schema, isLinkTarget),
      keymap(keyBindings((action) => this.#request({ action }))),
      dropCursor({ color: "var(--color-accent)", width: 2 }),
      gapCursor(),
      tableEditing(),
      findPlugin,
      commentPlugin((threadId) => this.#request({ action: "openThread", threadId })),
      cursorPlugin({ colorOf: this.#services.colorOf, initialsOf }),
      placeholder(this.#texts.placeholder),
      limits(() => this.#request({ action: "tooLarge" })),
      history(),
      collaboration(this.content.version),
    ] as Plugin[];
  }

  #dispatch(transaction: Transaction): void {
    const { state, transactions } = this.#state.applyTransaction(transaction);
    const isChanged = transactions.some(({ docChanged }) => docChanged);
    this.#update(state);
    if (isChanged) {
      this.session.changed();
      this.#services.onTyping();
      if (this.#following !== undefined) this.follow(undefined);
    }
    this.#sendCursorSoon();
  }

  #update(state: EditorState): void {
    this.#state = state;
    this.#view?.updateState(state);
    this.#notify();
  }

  #notify(): void {
    this.#snapshot += 1;
    for (const listener of this.#listeners) listener();
  }

  #request(request: UiRequest): void {
    for (const listener of this.#requests) listener(request);
  }

  #onCommits(commits: readonly Commit[]): void {
    this.#tracker.addCommits(commits);
    const { version } = collaborationOf(this.#state);
    for (const message of this.#tracker.takeWaiting(version)) this.#receiveCursor(message);
    this.#placeComments();
  }

  #receiveCursor(message: CursorMessage): void {
    if (message.clientId === this.identity.clientId) return;
    const isNew = !cursorsOf(this.#state).some(({ clientId }) => clientId === message.clientId);
    const transaction = this.#tracker.receive(this.#state, message, Date.now());
    if (transaction !== undefined) this.#update(this.#state.apply(transaction));
    if (message.left === true && this.#following === message.clientId) this.follow(undefined);
    if (isNew && message.left !== true) {
      this.#lastCursor = "";
      this.#sendCursorSoon();
    }
    if (message.clientId === this.#following) this.#scrollToFollowed();
  }

  #scrollToFollowed(): void {
    const cursor = cursorsOf(this.#state).find(({ clientId }) => clientId === this.#following);
    if (cursor?.head != null) this.#scrollTo(cursor.head);
  }

  #scrollTo(at: number): void {
    if (this.#view === undefined) return;
    const { node } = this.#view.domAtPos(at);
    const element = node instanceof Element ? node : node.parentElement;
    element?.scrollIntoView({ block: "nearest" });
  }

  #sendCursorSoon(): void {
    this.#cursorTimer ??= setTimeout(() => {
      this.#cursorTimer = undefined;
      const hasFocus = this.#view?.hasFocus() === true && this.isEditable;
      const own = ownCursor(this.#state);
      const cursor = hasFocus ? own : { version: own.version, anchor: null, head: null };
      const text = JSON.stringify([cursor.anchor, cursor.head]);
      if (text === this.#lastCursor) return;
      this.#lastCursor = text;
      this.#services.sendCursor(cursor);
    }, CURSOR_INTERVAL_MS);
  }

  async #keepRemainder(text: string): Promise<void> {
    if (text.trim() === "") return;
    const { userId, documentId } = this.identity;
    const remainder: Remainder = { id: newId(), userId, documentId, text, at: Date.now() };
    this.#remainders = [...this.#remainders, remainder];
    this.#notify();
    await this.#services.store.saveRemainder(remainder).catch(() => undefined);
  }

  #addFiles(transfer: DataTransfer | null, at?: number): boolean {
    // A copied table of a spreadsheet also carries its picture.
    const hasText = transfer?.types.includes("text/html") === true;
    const images = [...(transfer?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
    if (images.length === 0 || hasText || !this.isEditable) return false;
    void this.addImages(images, at);
    return true;
  }
}

export const newId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(9))].map((byte) => byte.toString(36).padStart(2, "0")).join("");

/** Position of the first image with an id. */
function findImage(doc: Node, id: string): number | undefined {
  let found: number | undefined;
  doc.descendants((node, at) => {
    if (node.type.name === "image" && node.attrs["src"] === id) found ??= at;
    return found === undefined;
  });
  return found;
}

/** Width of the text; wider pictures are inserted smaller. */
export const TEXT_WIDTH = 652;
const fitted = (size: number, width = size): number => Math.max(1, Math.round(size * Math.min(1, TEXT_WIDTH / width)));

/** The hint in an empty document. */
function placeholder(text: string): Plugin {
  return new Plugin({
    props: {
      decorations: ({ doc }) => {
        const first = doc.firstChild;
        const isEmpty = doc.childCount === 1 && first?.isTextblock === true && first.content.size === 0;
        if (!isEmpty) return null;
        return DecorationSet.create(doc, [
          Decoration.node(0, first.nodeSize, { class: "empty", "data-placeholder": text }),
        ]);
      },
    },
  });
}

/** Rejects changes that the service would not accept. Typing cannot exceed the depth, so only structural changes are checked for it. */
function limits(onReject: () => void): Plugin {
  return new Plugin({
    filterTransaction: (transaction, state) => {
      if (!transaction.docChanged || transaction.getMeta("rebased") !== undefined) return true;
      const growth = transaction.doc.content.size - state.doc.content.size;
      const isStructural = transaction.steps.some(
        (step) =>
          "slice" in step &&
          (step as { slice: { openStart: number; content: { firstChild: Node | null } } }).slice.content.firstChild
            ?.isBlock === true,
      );
      if ((growth > 0 && !isStructural && transaction.doc.content.size < 3_900_000) || (!isStructural && growth <= 0))
        return true;
      const isFine = isWithinLimits(transaction.doc);
      if (!isFine) onReject();
      return isFine;
    },
  });
}
