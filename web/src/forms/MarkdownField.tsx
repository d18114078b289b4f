import { Bold, Heading, Image, Italic, Link, List, ListOrdered, type LucideIcon, TextQuote } from "lucide-react";
import { Suspense, useRef, useState, type ClipboardEvent, type KeyboardEvent } from "react";
import { Button, Toolbar } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { lazyPart } from "../components/lazyPart";
import { Markdown } from "../components/Markdown";
import { Tabs } from "../components/Tabs";
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
import { TextArea } from "./TextArea";

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
  ["heading", Heading],
  ["list", List],
  ["number", ListOrdered],
  ["quote", TextQuote],
];
const NO_PICTURES: Readonly<Record<string, string>> = {};

/** A Markdown text: one tab to write, with buttons for formats, links and pictures; one to preview. */
export function MarkdownField({ label, value, onChange, rows = 10, problem, pictures }: Props) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<"write" | "see">("write");
  const [dialog, setDialog] = useState<{ kind: "link"; words: string } | { kind: "picture" }>();
  const area = useRef<HTMLTextAreaElement>(null);
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
  const openLink = () => {
    const { start, end } = selection();
    setDialog({ kind: "link", words: value.slice(start, end) });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    const key = event.key.toLowerCase();
    if (key !== "b" && key !== "i" && key !== "k") return;
    event.preventDefault();
    if (key === "k") openLink();
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
  const writeTab = (
    <div className="flex flex-col gap-1">
      <Toolbar aria-label={t("markdown.tools", { label })} className="flex flex-wrap gap-0.5">
        <Tool name="bold" icon={Bold} onPress={() => apply(toggleMark(selection(), "**"))} />
        <Tool name="italic" icon={Italic} onPress={() => apply(toggleMark(selection(), "*"))} />
        {TOOLS.map(([kind, icon]) => (
          <Tool key={kind} name={kind} icon={icon} onPress={() => apply(toggleLines(selection(), kind))} />
        ))}
        <Tool name="link" icon={Link} onPress={openLink} />
        {pictures === undefined ? null : (
          <Tool name="picture" icon={Image} onPress={() => setDialog({ kind: "picture" })} />
        )}
      </Toolbar>
      <TextArea
        label={label}
        hint={t("topic.markdown")}
        value={value}
        onChange={onChange}
        rows={rows}
        maxLength={MAX_LENGTH}
        problem={problem}
        inputRef={area}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
    </div>
  );
  const previewTab = (
    <div className="border-faint min-h-24 rounded-lg border p-3">
      <h2 className="sr-only">{label}</h2>
      {value.trim() === "" ? (
        <p className="text-soft">{t("topic.noText")}</p>
      ) : (
        <Markdown pictures={pictures?.urls ?? NO_PICTURES}>{value}</Markdown>
      )}
    </div>
  );
  return (
    <>
      <Tabs
        label={label}
        open={open}
        onOpen={setOpen}
        parts={[
          { id: "write", name: t("topic.write"), content: () => writeTab },
          { id: "see", name: t("topic.see"), content: () => previewTab },
        ]}
      />
      <Suspense>
        {dialog?.kind === "link" ? (
          <LinkDialog
            words={dialog.words}
            onInsert={(words, address) => apply(insertLink(selection(), words, address))}
            onClose={() => setDialog(undefined)}
          />
        ) : null}
        {dialog?.kind === "picture" && pictures !== undefined ? (
          <PictureDialog
            pictures={pictures}
            onInsert={(alt, name) => apply(insertPicture(selection(), alt, name))}
            onClose={() => setDialog(undefined)}
          />
        ) : null}
      </Suspense>
    </>
  );
}

type ToolName = LineKind | "bold" | "italic" | "link" | "picture";

/** A button of the toolbar. */
function Tool({ name, icon: Icon, onPress }: { name: ToolName; icon: LucideIcon; onPress: () => void }) {
  const { t } = useTranslation();
  return (
    <Button
      aria-label={t(`markdown.${name}`)}
      preventFocusOnPress
      onPress={onPress}
      className="text-soft hover:bg-sunk hover:text-ink inline-flex size-control cursor-pointer items-center justify-center rounded-lg"
    >
      <Icon aria-hidden="true" className="size-4.5" />
    </Button>
  );
}
