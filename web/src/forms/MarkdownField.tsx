import { Bold, Heading2, Image, Italic, Link, List, ListOrdered, type LucideIcon, TextQuote } from "lucide-react";
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  Suspense,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { useTranslation } from "react-i18next";

import { lazyPart } from "../components/lazyPart";
import { Markdown } from "../components/Markdown";
import { Tabs } from "../components/Tabs";
import type { RichTextHandle } from "../features/rich-text/RichTextEditor";
import {
  applyEdit,
  insertLink,
  insertPicture,
  type LineKind,
  markdownOf,
  type TextEdit,
  toggleLines,
  toggleMark,
} from "./markdownEdits";
import { MarkdownToolbar } from "./MarkdownToolbar";
import { useSourceMode } from "./sourceMode";
import { TextArea } from "./TextArea";
import { useRichTextEditor } from "./useRichTextEditor";

const LinkDialog = lazyPart(async () => (await import("./MarkdownDialogs")).LinkDialog);
const PictureDialog = lazyPart(async () => (await import("./MarkdownDialogs")).PictureDialog);

/** The pictures that a text can show: files of its topic. */
export interface TextPictures {
  /** The addresses of pictures by file name. */
  urls: Readonly<Record<string, string>>;
  /** Adds a picture to the files and returns its name there. */
  add: (file: File) => Promise<string>;
}

interface Props {
  label: string;
  value: string;
  onChange: (text: string) => void;
  rows?: number;
  problem?: string | undefined;
  /** Without it, no pictures can be added. */
  pictures?: TextPictures | undefined;
}

const MAX_LENGTH = 20_000;
const TOOLS: readonly (readonly [LineKind, LucideIcon])[] = [
  ["heading", Heading2],
  ["list", List],
  ["number", ListOrdered],
  ["quote", TextQuote],
];
const NO_PICTURES: Readonly<Record<string, string>> = {};

/** What is inserted by a dialog, in the formatted text or in its Markdown. */
interface DialogTarget {
  openLink: () => void;
  openPicture: ((file?: File) => void) | undefined;
  onSource: () => void;
}

type OpenDialog = { kind: "link"; words: string; address?: string | undefined } | { kind: "picture"; file?: File };

/**
 * A Markdown text. It is written as it is read, or as Markdown, by a preference of the user. Until the editor is loaded, and if
 * it cannot be loaded, it is written as Markdown.
 */
export function MarkdownField({ label, value, onChange, rows = 10, problem, pictures }: Props) {
  const { t } = useTranslation();
  const ids = useId();
  const [isSource, setSource] = useSourceMode();
  const [dialog, setDialog] = useState<OpenDialog>();
  const [isTooLong, setTooLong] = useState(false);
  const [isSwitched, setSwitched] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const rich = useRef<RichTextHandle>(null);
  const { editor: Editor, hasFailed } = useRichTextEditor(!isSource, area);
  const change = (text: string) => {
    setTooLong(false);
    onChange(text);
  };
  const { selection, apply } = useTextEdits(area, value, change);
  // The button that switches is replaced, so that the focus moves to the text.
  useEffect(() => {
    if (isSwitched && isSource) area.current?.focus();
  }, [isSwitched, isSource]);
  const target: DialogTarget = {
    openLink: () => {
      const { start, end } = selection();
      const known = rich.current?.selectedLink() ?? { words: value.slice(start, end) };
      setDialog({ kind: "link", ...known });
    },
    openPicture:
      pictures === undefined
        ? undefined
        : (file) => setDialog({ kind: "picture", ...(file === undefined ? {} : { file }) }),
    onSource: () => {
      setSwitched(true);
      setSource(!isSource);
    },
  };
  const error = problem ?? (isTooLong ? t("markdown.tooLong", { count: MAX_LENGTH }) : undefined);
  const errorId = error === undefined ? undefined : `${ids}error`;
  const writer = (
    <SourceEditor
      {...{ label, value, rows, area, selection, apply, target, isSource }}
      onChange={change}
      problem={problem}
      hint={hasFailed && !isSource ? t("markdown.unloaded") : t("topic.markdown")}
    />
  );
  return (
    <>
      {Editor !== undefined ? (
        <div className="flex flex-col gap-1">
          <span id={`${ids}label`} className="font-medium">
            {label}
          </span>
          <Editor
            ref={rich}
            label={label}
            labelledBy={`${ids}label`}
            describedBy={errorId}
            isInvalid={error !== undefined}
            value={value}
            onChange={change}
            rows={rows}
            maxLength={MAX_LENGTH}
            onTooLong={() => setTooLong(true)}
            pictureUrls={pictures?.urls ?? NO_PICTURES}
            onLink={target.openLink}
            onPicture={target.openPicture}
            onSource={target.onSource}
            hasFocus={isSwitched}
          />
          <p id={errorId} role="alert" className="text-bad text-sm empty:hidden">
            {error}
          </p>
        </div>
      ) : isSource ? (
        <SourceTabs label={label} value={value} pictures={pictures?.urls ?? NO_PICTURES} writer={writer} />
      ) : (
        writer
      )}
      <Suspense>
        {dialog?.kind === "link" ? (
          <LinkDialog
            words={dialog.words}
            address={dialog.address}
            onInsert={(words, address) => {
              if (rich.current) rich.current.setLink(words, address);
              else apply(insertLink(selection(), words, address));
            }}
            onRemove={() => rich.current?.removeLink()}
            onClose={() => setDialog(undefined)}
          />
        ) : null}
        {dialog?.kind === "picture" && pictures !== undefined ? (
          <PictureDialog
            pictures={pictures}
            file={dialog.file}
            onInsert={(alt, name) => {
              if (rich.current) rich.current.insertPicture(alt, name);
              else apply(insertPicture(selection(), alt, name));
            }}
            onClose={() => setDialog(undefined)}
          />
        ) : null}
      </Suspense>
    </>
  );
}

/** Selection and edits of the text field. */
function useTextEdits(
  area: React.RefObject<HTMLTextAreaElement | null>,
  value: string,
  onChange: (text: string) => void,
) {
  const selection = () => ({
    text: value,
    start: area.current?.selectionStart ?? value.length,
    end: area.current?.selectionEnd ?? value.length,
  });
  const apply = (edit: TextEdit) => {
    const field = area.current;
    if (field === null) return;
    if (applyEdit(value, edit).length > MAX_LENGTH) return;
    field.focus();
    field.setSelectionRange(edit.from, edit.to);
    // Inserted like typed text, so that the browser can undo it.
    const isInserted = document.execCommand(edit.insert === "" ? "delete" : "insertText", false, edit.insert);
    if (!isInserted) onChange(applyEdit(value, edit));
    requestAnimationFrame(() => field.setSelectionRange(edit.start, edit.end));
  };
  return { selection, apply };
}

interface SourceProps {
  label: string;
  hint: string;
  value: string;
  onChange: (text: string) => void;
  rows: number;
  problem: string | undefined;
  area: React.RefObject<HTMLTextAreaElement | null>;
  selection: ReturnType<typeof useTextEdits>["selection"];
  apply: ReturnType<typeof useTextEdits>["apply"];
  target: DialogTarget;
  isSource: boolean;
}

/** The Markdown of a text, with buttons that insert its marks. */
function SourceEditor({ target, selection, apply, area, isSource, ...field }: SourceProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    const key = event.key.toLowerCase();
    if (key !== "b" && key !== "i" && key !== "k") return;
    event.preventDefault();
    if (key === "k") target.openLink();
    else apply(toggleMark(selection(), key === "b" ? "**" : "*"));
  };
  const onPaste = (event: ClipboardEvent) => {
    const html = event.clipboardData.getData("text/html");
    if (html === "") return;
    event.preventDefault();
    const { start, end } = selection();
    const text = markdownOf(new DOMParser().parseFromString(html, "text/html").body);
    const insert = text === "" ? event.clipboardData.getData("text/plain") : text;
    apply({ from: start, to: end, insert, start: start + insert.length, end: start + insert.length });
  };
  const { openPicture } = target;
  return (
    <TextArea
      {...field}
      maxLength={MAX_LENGTH}
      inputRef={area}
      onKeyDown={onKeyDown}
      onPaste={onPaste}
      tools={
        <MarkdownToolbar
          label={field.label}
          groups={[
            [
              { name: "bold", icon: Bold, keys: "Mod-b", onPress: () => apply(toggleMark(selection(), "**")) },
              { name: "italic", icon: Italic, keys: "Mod-i", onPress: () => apply(toggleMark(selection(), "*")) },
            ],
            TOOLS.map(([name, icon]) => ({ name, icon, onPress: () => apply(toggleLines(selection(), name)) })),
            [
              { name: "link", icon: Link, keys: "Mod-k", onPress: target.openLink },
              ...(openPicture === undefined
                ? []
                : [{ name: "picture" as const, icon: Image, onPress: () => openPicture() }]),
            ],
          ]}
          isSource={isSource}
          onSource={target.onSource}
        />
      }
    />
  );
}

interface SourceTabsProps {
  label: string;
  value: string;
  pictures: Readonly<Record<string, string>>;
  writer: ReactNode;
}

/** One tab to write Markdown, one to preview it. */
function SourceTabs({ label, value, pictures, writer }: SourceTabsProps) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<"write" | "see">("write");
  const previewTab = (
    <div className="border-faint min-h-24 rounded-lg border p-3">
      <h2 className="sr-only">{label}</h2>
      {value.trim() === "" ? (
        <p className="text-soft">{t("topic.noText")}</p>
      ) : (
        <Markdown pictures={pictures}>{value}</Markdown>
      )}
    </div>
  );
  return (
    <Tabs
      label={label}
      open={open}
      onOpen={setOpen}
      parts={[
        { id: "write", name: t("topic.write"), content: () => writer },
        { id: "see", name: t("topic.see"), content: () => previewTab },
      ]}
    />
  );
}
