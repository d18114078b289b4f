import {
  AlignCenter,
  AlignJustify,
  AlignLeft,
  AlignRight,
  Asterisk,
  Baseline,
  Bold,
  BookOpenText,
  Code,
  Eraser,
  Highlighter,
  ImagePlus,
  Italic,
  Keyboard,
  Link2,
  List,
  ListChecks,
  ListIndentDecrease,
  ListIndentIncrease,
  ListOrdered,
  type LucideIcon,
  Minus,
  Printer,
  Quote,
  Redo2,
  ScissorsLineDashed,
  Search,
  SquareCode,
  Strikethrough,
  Subscript,
  Superscript,
  TableOfContents,
  Table2,
  Underline,
} from "lucide-react";
import { redo } from "prosemirror-history";
import { type ReactNode, useState } from "react";
import { Button, ToggleButton } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { COLORS, HIGHLIGHTS, markType } from "../document/schema";
import { hasMark, indent, listAround, outdent, toggle, toggleList } from "../../rich-text/commands";
import { clearFormatting, setAlign, setBlock, setColor, blockKind } from "../editing/commands";
import { insertPageBreak, insertRule } from "../editing/keys";
import type { EditorController } from "./controller";
import { Outline } from "./Outline";
import { printDocument } from "./print";
import { ReadingAids } from "./ReadingAids";
import { TableMenu } from "./TableMenu";
import { useController, useEditorValue } from "./useController";

const MARKS = [
  ["strong", "bold", Bold],
  ["em", "italic", Italic],
  ["underline", "underline", Underline],
  ["strike", "strike", Strikethrough],
  ["superscript", "superscript", Superscript],
  ["subscript", "subscript", Subscript],
  ["code", "inlineCode", Code],
] as const;

const ALIGNS = [
  ["left", AlignLeft],
  ["center", AlignCenter],
  ["right", AlignRight],
  ["justify", AlignJustify],
] as const;

const LISTS = [
  ["bullet_list", "bullets", List],
  ["ordered_list", "numbers", ListOrdered],
  ["check_list", "checks", ListChecks],
] as const;

const select = ({ state, isEditable }: EditorController) => {
  const colorOf = (name: "color" | "highlight") => {
    const type = markType(name);
    const { $from, from, to, empty } = state.selection;
    let found = type.isInSet(state.storedMarks ?? $from.marks());
    if (!empty) {
      found = undefined;
      state.doc.nodesBetween(from, to, (node) => void (found ??= type.isInSet(node.marks)));
    }
    return (found?.attrs["color"] as string | undefined) ?? null;
  };
  return {
    isEditable,
    marks: MARKS.filter(([mark]) => hasMark(state, markType(mark))).map(([mark]) => mark as string),
    color: colorOf("color"),
    highlight: colorOf("highlight"),
    align: (state.selection.$from.parent.attrs["align"] as string | null | undefined) ?? "left",
    list: listAround(state) ?? null,
    block: blockKind(state),
  };
};

interface Props {
  close: () => void;
  onImage: () => void;
  onLink: () => void;
  onFind: () => void;
}

type Page = "formats" | "table" | "outline" | "reading";

/** All formats and everything that can be inserted, and the tools of the document. */
export function FormatPanel({ close, onImage, onLink, onFind }: Props) {
  const { t } = useTranslation();
  const controller = useController();
  const now = useEditorValue(select);
  const [page, setPage] = useState<Page>("formats");
  if (page === "table") return <TableMenu close={close} />;
  if (page === "outline") return <Outline close={close} />;
  if (page === "reading") return <ReadingAids />;
  const run = (command: Parameters<EditorController["run"]>[0]) => () => void controller.run(command, true);
  const leave = (action: () => void) => () => {
    close();
    // The popover returns the focus to its button when it closes; the action comes after it.
    setTimeout(action);
  };
  return (
    <div className="format-panel">
      {now.isEditable ? (
        <>
          <Group label={t("editor.text")}>
            {MARKS.map(([mark, name, icon]) => (
              <Toggle
                key={mark}
                icon={icon}
                label={t(`editor.${name}`)}
                isSelected={now.marks.includes(mark)}
                onPress={run(toggle(mark))}
              />
            ))}
            <Plain icon={Eraser} label={t("editor.clear")} onPress={run(clearFormatting)} />
          </Group>
          <Swatches
            icon={Baseline}
            label={t("editor.color")}
            colors={COLORS}
            kind="color"
            value={now.color}
            onPick={(color) => controller.run(setColor("color", color), true)}
          />
          <Swatches
            icon={Highlighter}
            label={t("editor.highlight")}
            colors={HIGHLIGHTS}
            kind="highlight"
            value={now.highlight}
            onPick={(color) => controller.run(setColor("highlight", color), true)}
          />
          <Group label={t("editor.paragraph")}>
            {ALIGNS.map(([align, icon]) => (
              <Toggle
                key={align}
                icon={icon}
                label={t(`editor.aligns.${align}`)}
                isSelected={now.align === align}
                onPress={run(setAlign(align === "left" ? null : align))}
              />
            ))}
            <Toggle
              icon={Quote}
              label={t("editor.quote")}
              isSelected={now.block === "quote"}
              onPress={run(setBlock("quote"))}
            />
            <Toggle
              icon={SquareCode}
              label={t("editor.codeBlock")}
              isSelected={now.block === "code"}
              onPress={run(setBlock("code"))}
            />
            {LISTS.map(([list, name, icon]) => (
              <Toggle
                key={list}
                icon={icon}
                label={t(`editor.${name}`)}
                isSelected={now.list === list}
                onPress={run(toggleList(list))}
              />
            ))}
            <Plain
              icon={ListIndentDecrease}
              label={t("editor.outdent")}
              isDisabled={now.list === null}
              onPress={run(outdent)}
            />
            <Plain
              icon={ListIndentIncrease}
              label={t("editor.indent")}
              isDisabled={now.list === null}
              onPress={run(indent)}
            />
          </Group>
          <Rows label={t("editor.insert")}>
            <Row icon={Table2} label={t("editor.table")} onPress={() => setPage("table")} />
            <Row icon={ImagePlus} label={t("editor.image")} onPress={leave(onImage)} />
            <Row icon={Link2} label={t("editor.link")} onPress={leave(onLink)} />
            <Row icon={Asterisk} label={t("editor.footnote")} onPress={leave(() => controller.request("footnote"))} />
            <Row icon={Minus} label={t("editor.rule")} onPress={leave(() => controller.run(insertRule))} />
            <Row
              icon={ScissorsLineDashed}
              label={t("editor.pageBreak")}
              onPress={leave(() => controller.run(insertPageBreak))}
            />
          </Rows>
        </>
      ) : null}
      <Rows label={t("editor.document")}>
        {now.isEditable ? (
          <Row icon={Redo2} label={t("editor.redo")} onPress={leave(() => controller.run(redo))} />
        ) : null}
        <Row icon={TableOfContents} label={t("editor.outline")} onPress={() => setPage("outline")} />
        <Row icon={Search} label={t("editor.find.open")} onPress={leave(onFind)} />
        <Row icon={BookOpenText} label={t("editor.reading.title")} onPress={() => setPage("reading")} />
        <Row icon={Printer} label={t("editor.print")} onPress={leave(() => printDocument(controller))} />
        <Row icon={Keyboard} label={t("editor.keys.open")} onPress={leave(() => controller.request("keys"))} />
      </Rows>
    </div>
  );
}

function Group({ label, children }: { label: string; children: ReactNode }) {
  return (
    <fieldset aria-label={label}>
      <p aria-hidden="true" className="panel-label">
        {label}
      </p>
      <div className="flex flex-wrap gap-0.5">{children}</div>
    </fieldset>
  );
}

const Rows = ({ label, children }: { label: string; children: ReactNode }) => (
  <fieldset aria-label={label}>
    <p aria-hidden="true" className="panel-label">
      {label}
    </p>
    <div className="grid grid-cols-2 gap-x-1">{children}</div>
  </fieldset>
);

interface ItemProps {
  icon: LucideIcon;
  label: string;
  isDisabled?: boolean;
  onPress: () => void;
}

const PANEL_TOOL =
  "tool inline-flex size-9 cursor-pointer items-center justify-center rounded-lg disabled:cursor-default disabled:opacity-40";

const Toggle = ({ icon: Icon, label, isSelected, onPress }: ItemProps & { isSelected: boolean }) => (
  <ToggleButton aria-label={label} isSelected={isSelected} onChange={onPress} className={PANEL_TOOL}>
    <Icon aria-hidden="true" className="size-5" strokeWidth={1.75} />
  </ToggleButton>
);

const Plain = ({ icon: Icon, label, isDisabled = false, onPress }: ItemProps) => (
  <Button aria-label={label} isDisabled={isDisabled} onPress={onPress} className={PANEL_TOOL}>
    <Icon aria-hidden="true" className="size-5" strokeWidth={1.75} />
  </Button>
);

const Row = ({ icon: Icon, label, onPress }: ItemProps) => (
  <Button
    onPress={onPress}
    className="tool flex min-h-9 cursor-pointer items-center gap-2.5 rounded-lg px-2 text-start text-sm"
  >
    <Icon aria-hidden="true" className="size-4.5 shrink-0" strokeWidth={1.75} />
    <span className="min-w-0">{label}</span>
  </Button>
);

interface SwatchProps {
  icon: LucideIcon;
  label: string;
  colors: readonly (keyof typeof import("../../../i18n/en/editor.json").editor.colors)[];
  kind: "color" | "highlight";
  value: string | null;
  onPick: (color: string | null) => void;
}

/** Eight colors and none. Each has its name; the chosen one has a ring, too. */
function Swatches({ icon: Icon, label, colors, kind, value, onPick }: SwatchProps) {
  const { t } = useTranslation();
  return (
    <fieldset aria-label={label}>
      <p aria-hidden="true" className="panel-label flex items-center gap-1.5">
        <Icon className="size-3.5" strokeWidth={1.75} />
        {label}
      </p>
      <div className="swatches">
        <ToggleButton
          aria-label={t("editor.none")}
          isSelected={value === null}
          onChange={() => onPick(null)}
          className="swatch none"
        />
        {colors.map((color) => (
          <ToggleButton
            key={color}
            aria-label={t(`editor.colors.${color}`)}
            isSelected={value === color}
            onChange={() => onPick(color)}
            className="swatch"
            {...{ [`data-${kind}`]: color }}
          >
            {kind === "color" ? <span aria-hidden="true">A</span> : null}
          </ToggleButton>
        ))}
      </div>
    </fieldset>
  );
}
