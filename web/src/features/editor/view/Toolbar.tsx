import {
  Bold,
  Check,
  ChevronDown,
  Ellipsis,
  ImagePlus,
  Italic,
  Link2,
  List,
  ListChecks,
  ListOrdered,
  Redo2,
  Search,
  Table2,
  Underline,
  Undo2,
} from "lucide-react";
import { redo, redoDepth, undo, undoDepth } from "prosemirror-history";
import { isInTable } from "prosemirror-tables";
import { type RefObject, useRef } from "react";
import {
  Button,
  Dialog,
  DialogTrigger,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  Toolbar as AriaToolbar,
} from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Separator, TOOL } from "../../../components/ToolbarButton";
import { hasMark, listAround, toggle, toggleList } from "../../rich-text/commands";
import { markType } from "../document/schema";
import { type BlockKind, blockKind, setBlock } from "../editing/commands";
import type { EditorController } from "./controller";
import { CommentsButton } from "./CommentsButton";
import { FormatPanel } from "./FormatPanel";
import { People } from "./People";
import { TableMenu } from "./TableMenu";
import { ToolbarButton } from "./ToolbarButton";
import { useController, useEditorValue } from "./useController";
import { WordCount } from "./WordCount";

const selectState = (controller: EditorController) => {
  const { state } = controller;
  return {
    isEditable: controller.isEditable,
    canUndo: undoDepth(state) > 0,
    canRedo: redoDepth(state) > 0,
    block: blockKind(state),
    list: listAround(state) ?? null,
    bold: hasMark(state, markType("strong")),
    italic: hasMark(state, markType("em")),
    underline: hasMark(state, markType("underline")),
    isInTable: isInTable(state),
  };
};

interface Props {
  toolbar: RefObject<HTMLDivElement | null>;
  /** Opens the comments, or a thread if no text is selected. */
  onComment: (threadId: string | undefined) => void;
  onFind: () => void;
  onLink: () => void;
}

/** The toolbar of the document: the most frequent formats; everything is in the panel behind "More". */
export function Toolbar({ toolbar, onComment, onFind, onLink }: Props) {
  const { t } = useTranslation();
  const controller = useController();
  const {
    isEditable,
    canUndo,
    canRedo,
    block,
    list,
    bold,
    italic,
    underline,
    isInTable: inTable,
  } = useEditorValue(selectState);
  const files = useRef<HTMLInputElement>(null);
  const chooseImages = () => files.current?.click();
  const isReadOnly = !controller.content.canEdit;
  return (
    <div
      ref={toolbar}
      role="presentation"
      className="editor-toolbar"
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) controller.focus();
      }}
    >
      <AriaToolbar aria-label={t("editor.toolbar")} className="flex min-w-0 items-center gap-0.5">
        {isReadOnly ? (
          <span className="text-soft px-2 text-sm">{t("editor.state.view")}</span>
        ) : (
          <>
            <ToolbarButton
              icon={Undo2}
              label={t("editor.undo")}
              shortcut="undo"
              isDisabled={!canUndo || !isEditable}
              onPress={() => controller.run(undo)}
            />
            <span className="hide-narrow contents">
              <ToolbarButton
                icon={Redo2}
                label={t("editor.redo")}
                shortcut="redo"
                isDisabled={!canRedo || !isEditable}
                onPress={() => controller.run(redo)}
              />
            </span>
            <Separator />
            <StyleMenu kind={block} isDisabled={!isEditable} />
            <Separator />
            <ToolbarButton
              icon={Bold}
              label={t("editor.bold")}
              shortcut="bold"
              isSelected={bold}
              isDisabled={!isEditable}
              onPress={() => controller.run(toggle("strong"))}
            />
            <ToolbarButton
              icon={Italic}
              label={t("editor.italic")}
              shortcut="italic"
              isSelected={italic}
              isDisabled={!isEditable}
              onPress={() => controller.run(toggle("em"))}
            />
            <span className="hide-narrow contents">
              <ToolbarButton
                icon={Underline}
                label={t("editor.underline")}
                shortcut="underline"
                isSelected={underline}
                isDisabled={!isEditable}
                onPress={() => controller.run(toggle("underline"))}
              />
              <Separator />
              <ToolbarButton
                icon={List}
                label={t("editor.bullets")}
                shortcut="bullets"
                isSelected={list === "bullet_list"}
                isDisabled={!isEditable}
                onPress={() => controller.run(toggleList("bullet_list"))}
              />
              <ToolbarButton
                icon={ListOrdered}
                label={t("editor.numbers")}
                shortcut="numbers"
                isSelected={list === "ordered_list"}
                isDisabled={!isEditable}
                onPress={() => controller.run(toggleList("ordered_list"))}
              />
            </span>
            <span className="hide-medium contents">
              <ToolbarButton
                icon={ListChecks}
                label={t("editor.checks")}
                shortcut="checks"
                isSelected={list === "check_list"}
                isDisabled={!isEditable}
                onPress={() => controller.run(toggleList("check_list"))}
              />
              <Separator />
              <DialogTrigger>
                <Button
                  aria-label={t("editor.table")}
                  isDisabled={!isEditable}
                  preventFocusOnPress
                  className={`${TOOL} ${inTable ? "on" : ""}`}
                >
                  <Table2 aria-hidden="true" className="size-5" strokeWidth={1.75} />
                </Button>
                <Popover className="editor-popover" placement="bottom start">
                  <Dialog aria-label={t("editor.table")} className="outline-none">
                    {({ close }) => <TableMenu close={close} />}
                  </Dialog>
                </Popover>
              </DialogTrigger>
              <ToolbarButton
                icon={ImagePlus}
                label={t("editor.image")}
                isDisabled={!isEditable}
                onPress={chooseImages}
              />
              <ToolbarButton
                icon={Link2}
                label={t("editor.link")}
                shortcut="link"
                isDisabled={!isEditable}
                onPress={onLink}
              />
              <Separator />
            </span>
          </>
        )}
        <DialogTrigger>
          <Button aria-label={t("editor.more")} preventFocusOnPress className={TOOL}>
            <Ellipsis aria-hidden="true" className="size-5" strokeWidth={1.75} />
          </Button>
          <Popover className="editor-popover" placement="bottom start" maxHeight={640}>
            <Dialog aria-label={t("editor.more")} className="outline-none">
              {({ close }) => <FormatPanel close={close} onImage={chooseImages} onLink={onLink} onFind={onFind} />}
            </Dialog>
          </Popover>
        </DialogTrigger>
      </AriaToolbar>
      <span className="ms-auto" />
      <People />
      <WordCount />
      <CommentsButton onPress={onComment} />
      <span className="hide-narrow contents">
        <ToolbarButton icon={Search} label={t("editor.find.open")} shortcut="find" onPress={onFind} />
      </span>
      <input
        ref={files}
        type="file"
        accept="image/png,image/jpeg,image/gif,image/webp"
        multiple
        hidden
        aria-label={t("editor.image")}
        onChange={({ target }) => {
          void controller.addImages([...(target.files ?? [])]);
          target.value = "";
        }}
      />
    </div>
  );
}

/** Styles of a file that are blocks of their own here. */
const BASIC_STYLES = /^((heading|überschrift)\s*\d|normal|standard|list paragraph|listenabsatz|quote|zitat)$/i;
const KINDS = ["paragraph", "h1", "h2", "h3", "h4", "quote", "code"] as const;

function StyleMenu({ kind, isDisabled }: { kind: BlockKind; isDisabled: boolean }) {
  const { t } = useTranslation();
  const controller = useController();
  const own = controller.content.styles.filter(({ name }) => !BASIC_STYLES.test(name)).slice(0, 40);
  const name = kind.startsWith("style:")
    ? (controller.content.styles.find(({ id }) => id === kind.slice(6))?.name ?? kind.slice(6))
    : t(`editor.styles.${kind as (typeof KINDS)[number]}`);
  return (
    <MenuTrigger>
      <Button
        aria-label={`${t("editor.style")}: ${name}`}
        isDisabled={isDisabled}
        preventFocusOnPress
        className={`${TOOL} style-menu`}
      >
        <span className="min-w-0 grow truncate text-start">{name}</span>
        <ChevronDown aria-hidden="true" className="size-4 shrink-0" strokeWidth={1.75} />
      </Button>
      <Popover className="editor-popover" placement="bottom start" maxHeight={560}>
        <Menu
          aria-label={t("editor.style")}
          selectionMode="single"
          selectedKeys={[kind]}
          onAction={(key) => void setTimeout(() => controller.run(setBlock(key as BlockKind)))}
          className="min-w-60 outline-none"
        >
          <MenuSection>
            {KINDS.map((each) => (
              <StyleItem key={each} id={each} name={t(`editor.styles.${each}`)} />
            ))}
          </MenuSection>
          {own.length === 0 ? null : (
            <MenuSection>
              <Header className="text-soft px-3 pt-3 pb-1 text-xs font-medium">{t("editor.ownStyles")}</Header>
              {own.map((style) => (
                <StyleItem key={style.id} id={`style:${style.id}`} name={style.name} />
              ))}
            </MenuSection>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

const StyleItem = ({ id, name }: { id: string; name: string }) => (
  <MenuItem id={id} textValue={name} className="menu-item">
    {({ isSelected }) => (
      <>
        <span className={`style-sample style-${id.replace(":", "-").replaceAll(/[^\w-]/g, "")} grow truncate`}>
          {name}
        </span>
        {isSelected ? <Check aria-hidden="true" className="size-4" /> : null}
      </>
    )}
  </MenuItem>
);
