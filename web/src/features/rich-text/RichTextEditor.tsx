import {
  Bold,
  Heading2,
  Heading3,
  Image,
  IndentDecrease,
  IndentIncrease,
  Italic,
  Link,
  List,
  ListOrdered,
  type LucideIcon,
  Redo2,
  TextQuote,
  Undo2,
} from "lucide-react";
import { redoDepth, undoDepth } from "prosemirror-history";
import type { EditorState } from "prosemirror-state";
import {
  type Ref,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { useTranslation } from "react-i18next";

import { MarkdownToolbar, type Tool } from "../../forms/MarkdownToolbar";
import { hasMark, isInside, listAround } from "./commands";
import { COMMANDS, KEYS, type PictureUrls, RichTextController, type ToolName } from "./controller";
import { markType, nodeType } from "./schema";
import "./cursor.css";
import "./richText.css";

/** What the dialogs of the field do with the text. */
export type RichTextHandle = Pick<
  RichTextController,
  "focus" | "insertPicture" | "removeLink" | "selectedLink" | "setLink"
>;

interface Props {
  ref: Ref<RichTextHandle>;
  label: string;
  /** Ids of the label and of the descriptions. */
  labelledBy: string;
  describedBy: string | undefined;
  isInvalid: boolean;
  value: string;
  onChange: (markdown: string) => void;
  rows: number;
  maxLength: number;
  onTooLong: () => void;
  pictureUrls: PictureUrls;
  onLink: () => void;
  /** Without it, no pictures can be added. */
  onPicture: ((file?: File) => void) | undefined;
  onSource: () => void;
  hasFocus: boolean;
}

const ICONS: Record<ToolName, LucideIcon> = {
  undo: Undo2,
  redo: Redo2,
  bold: Bold,
  italic: Italic,
  heading: Heading2,
  subheading: Heading3,
  list: List,
  number: ListOrdered,
  outdent: IndentDecrease,
  indent: IndentIncrease,
  quote: TextQuote,
  link: Link,
};

/** Whether each button is pressed (undefined: it is no toggle) or disabled. */
function toolStates(state: EditorState): Record<ToolName, { isSelected?: boolean; isDisabled?: boolean }> {
  const { $from } = state.selection;
  const { parent } = $from;
  const list = listAround(state);
  const isHeading = (level: number) => parent.type === nodeType("heading") && parent.attrs["level"] === level;
  const isCode = parent.type === nodeType("code_block");
  return {
    undo: { isDisabled: undoDepth(state) === 0 },
    redo: { isDisabled: redoDepth(state) === 0 },
    bold: { isSelected: hasMark(state, markType("strong")), isDisabled: isCode },
    italic: { isSelected: hasMark(state, markType("em")), isDisabled: isCode },
    heading: { isSelected: isHeading(2) },
    subheading: { isSelected: isHeading(3) },
    list: { isSelected: list === "bullet_list" },
    number: { isSelected: list === "ordered_list" },
    outdent: { isDisabled: list === undefined },
    indent: { isDisabled: !COMMANDS.indent(state) },
    quote: { isSelected: isInside($from, "blockquote") },
    link: { isDisabled: isCode },
  };
}

/** A Markdown text as it is read, with its toolbar. */
export function RichTextEditor({ ref, ...props }: Props) {
  const { labelledBy, describedBy, isInvalid, value, rows, pictureUrls } = props;
  const { t } = useTranslation();
  const toolbar = useRef<HTMLDivElement>(null);
  const now = useRef(props);
  useEffect(() => {
    now.current = props;
  });
  const [rawLabel] = useState(() => t("markdown.raw"));
  const [controller, setController] = useState<RichTextController>();
  // The editor exists as long as its element.
  const place = useCallback(
    (element: HTMLDivElement) => {
      const events = {
        onChange: (markdown: string) => now.current.onChange(markdown),
        onTooLong: () => now.current.onTooLong(),
        onLink: () => now.current.onLink(),
        onToolbar: () => toolbar.current?.querySelector<HTMLElement>("button:not([disabled])")?.focus(),
        onPictureFile: (file: File) => {
          now.current.onPicture?.(file);
          return now.current.onPicture !== undefined;
        },
      };
      const created = new RichTextController(now.current.value, events, { maxLength: now.current.maxLength, rawLabel });
      created.mount(element);
      if (now.current.hasFocus) created.focus();
      setController(created);
      return () => created.destroy();
    },
    [rawLabel],
  );
  useImperativeHandle(ref, () => controller as RichTextHandle, [controller]);
  useEffect(() => controller?.setValue(value), [controller, value]);
  useEffect(() => controller?.setPictures(pictureUrls), [controller, pictureUrls]);
  useEffect(
    () =>
      controller?.setAttributes({
        class: "rich-text",
        role: "textbox",
        "aria-multiline": "true",
        "aria-labelledby": labelledBy,
        ...(describedBy === undefined ? {} : { "aria-describedby": describedBy }),
        ...(isInvalid ? { "aria-invalid": "true" } : {}),
        tabindex: "0",
        spellcheck: "true",
        style: `min-height: ${rows * 1.5 + 1}rem`,
      }),
    [controller, labelledBy, describedBy, isInvalid, rows],
  );
  return (
    <>
      {controller === undefined ? null : <RichTextTools {...props} controller={controller} toolbar={toolbar} />}
      <div ref={place} />
    </>
  );
}

interface ToolsProps extends Pick<Props, "label" | "onLink" | "onPicture" | "onSource"> {
  controller: RichTextController;
  toolbar: RefObject<HTMLDivElement | null>;
}

function RichTextTools({ label, controller, toolbar, onLink, onPicture, onSource }: ToolsProps) {
  const states = useSyncExternalStore(controller.subscribe, () => JSON.stringify(toolStates(controller.state)));
  const tools = JSON.parse(states) as ReturnType<typeof toolStates>;
  const tool = (name: ToolName): Tool => ({
    name,
    icon: ICONS[name],
    keys: KEYS[name],
    ...tools[name],
    onPress: () => (name === "link" ? onLink() : controller.run(COMMANDS[name])),
  });
  return (
    <MarkdownToolbar
      ref={toolbar}
      label={label}
      groups={[
        [tool("undo"), tool("redo")],
        [tool("bold"), tool("italic"), tool("heading"), tool("subheading")],
        [tool("list"), tool("number"), tool("outdent"), tool("indent"), tool("quote")],
        [
          tool("link"),
          ...(onPicture === undefined ? [] : [{ name: "picture" as const, icon: Image, onPress: () => onPicture() }]),
        ],
      ]}
      isSource={false}
      onSource={onSource}
      onEscape={() => controller.focus()}
    />
  );
}
