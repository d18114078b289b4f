import { useCallback, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { toast } from "../../../components/base/toast";
import { translateIfKnown } from "../../../i18n";
import { useErrorText } from "../../../i18n/useErrorText";
import { Announcer } from "./Announcer";
import { Comments, useCommentRequest } from "./Comments";
import { EditorController, type DocumentContent, type EditorServices, type UiRequest } from "./controller";
import type { SaveState, SessionIdentity } from "../collaboration/session";
import { FindBar } from "./FindBar";
import { FootnoteDialog } from "./FootnoteDialog";
import { ImageDialog } from "./ImageDialog";
import { KeysDialog } from "./KeysDialog";
import { LinkDialog } from "./LinkDialog";
import { printDocument } from "./print";
import { useReadingPreferences } from "./readingPreferences";
import { ReadingRuler } from "./ReadingRuler";
import { Remainders } from "./Remainders";
import { Toolbar } from "./Toolbar";
import { ControllerContext, useEditorValue } from "./useController";
import "../../rich-text/cursor.css";
import "./editor.css";

interface Props {
  /** Name of the document, for the label of the text. */
  name: string;
  content: DocumentContent;
  identity: SessionIdentity;
  services: EditorServices;
  /** The controller while the page is open, for the parts of the work room around it. */
  onController?: (controller: EditorController | undefined) => void;
  onSaveState?: (state: SaveState) => void;
}

/** An open document: toolbar, paper, and what belongs to it. A new `content` needs a new `key`. */
export function DocumentPage({ name, content, identity, services, onController, onSaveState }: Props) {
  const { t } = useTranslation();
  const [controller, setController] = useState<EditorController>();
  const now = useRef({ onController, onSaveState });
  useEffect(() => {
    now.current = { onController, onSaveState };
  });
  const [texts] = useState(() => ({
    label: t("editor.label", { name }),
    placeholder: t("editor.placeholder"),
    checkbox: t("editor.checkbox"),
    missingImage: t("editor.imageMissing"),
    noAlt: t("editor.imageNoAlt"),
    footnote: (text: string) => t("editor.footnoteLabel", { text }),
    pageBreak: t("editor.pageBreak"),
    island: (kind: string) => translateIfKnown(`editor.islands.${kind}`) ?? t("editor.islands.other"),
    islandHint: t("editor.islandHint"),
  }));
  // The editor exists as long as its element.
  const place = useCallback(
    (element: HTMLDivElement) => {
      const created = new EditorController(content, identity, services, texts);
      created.mount(element);
      setController(created);
      now.current.onController?.(created);
      let last: SaveState | undefined;
      const end = created.subscribe(() => {
        if (created.saveState === last) return;
        last = created.saveState;
        now.current.onSaveState?.(last);
      });
      return () => {
        end();
        now.current.onController?.(undefined);
        created.destroy();
      };
    },
    [content, identity, services, texts],
  );
  const [preferences] = useReadingPreferences();
  const comments = useCommentRequest();
  return (
    <div
      className="editor"
      data-lines={preferences.lines}
      data-letters={preferences.letters}
      data-size={preferences.size}
    >
      {controller === undefined ? null : (
        <ControllerContext value={controller}>
          <Tools controller={controller} comments={comments} />
        </ControllerContext>
      )}
      <div className="editor-body">
        <div className="desk">
          <div ref={place} className="paper" />
          {preferences.ruler ? <ReadingRuler /> : null}
        </div>
        {controller === undefined ? null : (
          <ControllerContext value={controller}>
            <Comments request={comments.request} onClose={comments.close} />
          </ControllerContext>
        )}
      </div>
    </div>
  );
}

type OpenDialog = { kind: "link" } | { kind: "keys" } | { kind: "image" | "footnote"; at?: number };

interface ToolsProps {
  controller: EditorController;
  comments: ReturnType<typeof useCommentRequest>;
}

function Tools({ controller, comments }: ToolsProps) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const toolbar = useRef<HTMLDivElement>(null);
  const [dialog, setDialog] = useState<OpenDialog>();
  const [find, setFind] = useState<string>();
  const now = useRef<(request: UiRequest) => void>(undefined);
  const openFind = () => {
    const { from, to } = controller.state.selection;
    setFind(to - from < 80 ? controller.state.doc.textBetween(from, to, " ") : "");
  };
  const openComments = (awaiting?: string) => {
    const thread = controller.threadAtCursor ?? (controller.state.selection.empty ? awaiting : undefined);
    if (thread === undefined) controller.beginComment();
    comments.open(thread, thread === undefined);
  };
  useEffect(() => {
    now.current = (request) => {
      switch (request.action) {
        case "find":
          openFind();
          break;
        case "comment":
          openComments();
          break;
        case "openThread":
          comments.open(request.threadId, false);
          break;
        case "toolbar":
          toolbar.current?.querySelector<HTMLElement>("[role=toolbar] button:not([disabled])")?.focus();
          break;
        case "print":
          printDocument(controller);
          break;
        case "link":
          if (controller.isEditable) setDialog({ kind: "link" });
          break;
        case "footnote":
          if (controller.isEditable) setDialog({ kind: "footnote" });
          break;
        case "keys":
          setDialog({ kind: "keys" });
          break;
        case "editImage":
          setDialog({ kind: "image", at: request.at });
          break;
        case "editFootnote":
          setDialog({ kind: "footnote", at: request.at });
          break;
        case "imageFailed":
          toast(`${t("editor.imageFailed")} ${errorText(request.error)}`);
          break;
        case "tooLarge":
          toast(t("editor.tooLarge"));
          break;
        case "late":
          toast(t("editor.lateKept"));
          break;
      }
    };
  });
  useEffect(() => controller.onRequest((request) => now.current?.(request)), [controller]);
  const close = () => setDialog(undefined);
  return (
    <>
      <Toolbar
        toolbar={toolbar}
        onComment={openComments}
        onFind={openFind}
        onLink={() => setDialog({ kind: "link" })}
      />
      {find === undefined ? null : <FindBar key={find} initial={find} onClose={() => setFind(undefined)} />}
      <ReadOnlyReason controller={controller} />
      <Notices />
      <Remainders />
      <Announcer />
      {dialog?.kind === "link" ? <LinkDialog onClose={close} /> : null}
      {dialog?.kind === "keys" ? <KeysDialog onClose={close} /> : null}
      {dialog?.kind === "image" && dialog.at !== undefined ? <ImageDialog at={dialog.at} onClose={close} /> : null}
      {dialog?.kind === "footnote" ? <FootnoteDialog at={dialog.at} onClose={close} /> : null}
    </>
  );
}

/** Why a file can only be read, and the way to change it elsewhere. */
function ReadOnlyReason({ controller: { content, identity } }: { controller: EditorController }) {
  const { t } = useTranslation();
  const [reason] = content.readOnlyReasons;
  if (reason === undefined) return null;
  return (
    <div className="editor-notice">
      <p>
        {translateIfKnown(`editor.readOnly.${reason}`) ?? t("editor.readOnly.other")}{" "}
        <a href={`/api/workrooms/documents/${identity.documentId}/download`} download>
          {t("editor.readOnly.download")}
        </a>
      </p>
    </div>
  );
}

const selectNotice = ({ saveState, isFrozen, isUploading }: EditorController) => ({ saveState, isFrozen, isUploading });

/** What the writer has to know now; empty most of the time. */
function Notices() {
  const { t } = useTranslation();
  const { saveState, isFrozen, isUploading } = useEditorValue(selectNotice);
  const text = isFrozen
    ? t("editor.freezing")
    : saveState.kind === "ended"
      ? t(`editor.ended.${saveState.reason}`)
      : isUploading
        ? t("editor.imageUploading")
        : undefined;
  return text === undefined ? null : <output className="editor-notice">{text}</output>;
}
