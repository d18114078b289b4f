import { DocumentEditor as OnlyOfficeEditor, type DocumentEditorProps } from "@onlyoffice/document-editor-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type RefObject, Suspense, useEffect, useId, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap, type Schemas } from "../../api/client";
import { addEventListener, emitTyping } from "../../api/realtime";
import { queryKeys } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { lazyPart } from "../../components/lazyPart";
import { loadTexts } from "../../i18n";
import { saveFromUrl } from "./files";
import { type Document, fileName } from "./workRoom";
import { editorScriptQuery } from "./editorScript";
import { reportSaveState } from "./saveState";

const BuiltinEditor = lazyPart(async () => {
  const [{ BuiltinEditor: editor }] = await Promise.all([import("../editor/BuiltinEditor"), loadTexts("editor")]);
  return editor;
});

const NO_MEMBERS: readonly string[] = [];

type Config = Schemas["Editor"] & { editor?: "builtin" | "onlyoffice" };
type WrapperConfig = DocumentEditorProps["config"];

interface Props {
  document: Document;
  /** Members of the group, for the colors of their cursors. */
  memberIds?: readonly string[];
  /** Opens a draft read-only. */
  isView: boolean;
  isPhone: boolean;
}

/** The document in the built-in editor or in that of the document server. The permissions come from the service, not from this page. */
export function DocumentEditor({ document, memberIds = NO_MEMBERS, isView, isPhone }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [failed, setFailed] = useState(false);
  const [isUnsent, setUnsent] = useState(false);
  // The mobile editor of the free edition is read-only; the full editor writes on every screen.
  const [isFull, setFull] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const isFreezing = useDocumentFreeze(document.id, isUnsent);
  // Most text documents are opened in it; its code is loaded while the configuration is fetched.
  useEffect(() => {
    if (document.documentType === "word") BuiltinEditor.prefetch();
  }, [document.documentType]);
  // A status change gives the document a new key: the editor is opened again, read-only where required.
  const queryKey = queryKeys.document.editor(document.id, document.status, document.canEdit, isView);
  const view = useQuery({
    queryKey,
    queryFn: () =>
      unwrap(
        client.GET("/workrooms/documents/{id}/editor-config", {
          params: { path: { id: document.id }, query: isView ? { mode: "view" as const } : {} },
        }),
      ),
    staleTime: Infinity,
    gcTime: 0,
  });
  const config = useStableConfig(`${document.id} ${attempt}`, view, isUnsent, isFreezing);
  const isBuiltin = config?.editor === "builtin";
  const server = config?.documentServerUrl ?? null;
  const script = useQuery({ ...editorScriptQuery(server ?? "", config?.document.key ?? ""), enabled: server !== null });
  const isMissing = failed || script.isError;
  const again = () => {
    setFailed(false);
    setAttempt((before) => before + 1);
    if (script.isError) void script.refetch();
    void cache.resetQueries({ queryKey });
  };
  if (config === undefined)
    return view.isError ? <ErrorMessage problem={view.error} onRetry={again} /> : <Skeleton count={1} />;
  if (isBuiltin) {
    return (
      <Suspense fallback={<Skeleton count={1} />}>
        <BuiltinEditor
          documentId={document.id}
          name={fileName(document)}
          documentKey={config.document.key}
          memberIds={memberIds}
          isView={isView}
          isFreezing={isFreezing}
          setUnsent={setUnsent}
        />
      </Suspense>
    );
  }
  if (isMissing || server === null) {
    return (
      <div role="alert" className="flex flex-col items-start gap-3">
        <p>{t(isMissing ? "room.editor.failed" : "room.editor.none")}</p>
        <p className="flex flex-wrap gap-2">
          {isMissing ? <Button onPress={again}>{t("problem.again")}</Button> : null}
          <Button onPress={() => saveFromUrl(`/api/workrooms/documents/${document.id}/download`, fileName(document))}>
            {t("room.editor.download")}
          </Button>
        </p>
      </div>
    );
  }
  if (!script.isSuccess) return <Skeleton count={1} />;
  const type = isPhone && !isFull ? "mobile" : "desktop";
  // For the document server another key is another document, so the editor must be remounted.
  return (
    <EditorFrame
      key={`${config.document.key} ${config.editorConfig.mode} ${type} ${attempt}`}
      document={document}
      config={config}
      type={type}
      onReadOnlyPhone={() => setFull(true)}
      isUnsent={isUnsent}
      setUnsent={setUnsent}
      isFreezing={isFreezing}
      onAgain={again}
      onFail={() => setFailed(true)}
    />
  );
}

/** Delay after the last keystroke until the editor counts as having sent all changes. */
const FLUSH_DELAY_MS = 200;
/** How long unsent changes keep an editor mounted whose document has become read-only. */
const MAX_FLUSH_MS = 4_000;
/** Timeout of a freeze whose end event was missed; typed text was sent long before. */
const MAX_FREEZE_MS = 20_000;

/**
 * Whether a submission or a finish of this document has begun and waits for its editors. The service is notified as soon as
 * the editor of this page has sent everything. Until the end the editor stays mounted, otherwise its unsent changes would be
 * lost.
 */
function useDocumentFreeze(id: string, isUnsent: boolean): boolean {
  const [frozen, setFrozen] = useState<string>();
  const isFreezing = frozen === id;
  useEffect(
    () =>
      addEventListener((event, payload) => {
        const isOwn = "documentId" in payload && payload.documentId === id;
        if (isOwn && event === "document:status") setFrozen(undefined);
        if (!isOwn || event !== "document:freezing") return false;
        setFrozen(id);
        return true;
      }),
    [id],
  );
  useEffect(() => {
    if (!isFreezing) return;
    const end = setTimeout(() => setFrozen(undefined), MAX_FREEZE_MS);
    return () => clearTimeout(end);
  }, [isFreezing]);
  useEffect(() => {
    if (!isFreezing || isUnsent) return;
    const report = setTimeout(
      () => void client.POST("/workrooms/documents/{id}/flushed", { params: { path: { id } } }).catch(() => undefined),
      FLUSH_DELAY_MS,
    );
    return () => clearTimeout(report);
  }, [id, isFreezing, isUnsent]);
  return isFreezing;
}

/**
 * Keeps a configuration until its key or mode changes: a renewed token must not remount the editor while the user writes. A
 * writable configuration is also kept while the document is being frozen, and briefly while changes are unsent; a read-only
 * one while the next is loading. Nothing is kept under another `id`.
 */
function useStableConfig(
  id: string,
  { data: latest, isPending }: { data: Config | undefined; isPending: boolean },
  isUnsent: boolean,
  isFreezing: boolean,
): Config | undefined {
  const [stable, setStable] = useState({ id, config: latest });
  const [isOver, setOver] = useState(false);
  const isClosing =
    stable.id === id && stable.config?.editorConfig.mode === "edit" && latest?.editorConfig.mode !== "edit";
  const isStable = isClosing && (isFreezing || (isUnsent && !isOver));
  const isOther =
    !isStable && latest !== undefined && (stable.id !== id || editorKey(stable.config) !== editorKey(latest));
  if (isOther) setStable({ id, config: latest });
  if (!isClosing && isOver) setOver(false);
  useEffect(() => {
    if (!isClosing) return;
    const end = setTimeout(() => setOver(true), MAX_FLUSH_MS);
    return () => clearTimeout(end);
  }, [isClosing]);
  const isReading = stable.id === id && stable.config?.editorConfig.mode === "view" && isPending;
  if (isStable || isReading) return stable.config;
  return latest === undefined || isOther ? latest : stable.config;
}

const editorKey = (config: Config | undefined): string =>
  config === undefined ? "" : `${config.document.key} ${config.editorConfig.mode} ${config.documentServerUrl}`;

interface EditorFrameProps {
  document: Document;
  config: Config;
  type: "mobile" | "desktop";
  /** The mobile editor was opened for writing but is read-only. */
  onReadOnlyPhone: () => void;
  isUnsent: boolean;
  setUnsent: (isUnsent: boolean) => void;
  /** Input is blocked while the last changes are sent. */
  isFreezing: boolean;
  onAgain: () => void;
  onFail: () => void;
}

function EditorFrame({
  document,
  config,
  type,
  onReadOnlyPhone,
  isUnsent,
  setUnsent,
  isFreezing,
  onAgain,
  onFail,
}: EditorFrameProps) {
  const after = useRef<HTMLButtonElement>(null);
  const before = useRef<HTMLButtonElement>(null);
  const isView = config.editorConfig.mode === "view";
  const [report, setReport] = useState<EditorReport>();
  const now = useRef({ onAgain, onReadOnlyPhone, setUnsent, id: document.id });
  useEffect(() => {
    now.current = { onAgain, onReadOnlyPhone, setUnsent, id: document.id };
  }, [onAgain, onReadOnlyPhone, setUnsent, document.id]);
  // A remounted editor has no unsent changes.
  useEffect(() => () => setUnsent(false), [setUnsent]);
  // The wrapper creates the editor after the mount, even if the frame has been removed meanwhile: then it reports an error, or,
  // with an id used again, puts the old configuration into the new frame.
  const elementId = `editor-${useId()}`;
  const isMounted = useRef(false);
  useEffect(() => {
    isMounted.current = true;
    return () => void (isMounted.current = false);
  }, []);
  const whole = useMemo(() => {
    const { documentServerUrl: _, ...own } = config;
    // `events` of the configuration overrides the wrapper's own handlers, so all of them are set here.
    const events = {
      onAppReady: () => undefined,
      onDocumentStateChange: (event: { data?: boolean }) => {
        now.current.setUnsent(event.data === true);
        if (event.data === true) emitTyping(now.current.id);
      },
      onInfo: (event: EditorEvent) => {
        if (isView || event.data?.mode !== "view") return;
        if (type === "mobile") now.current.onReadOnlyPhone();
        else setReport({ kind: "readOnly" });
      },
      onError: (event: EditorEvent) => setReport({ kind: "lost", description: event.data?.errorDescription }),
      onWarning: (event: EditorEvent) =>
        setReport({
          kind: event.data?.warningCode === CONNECTION_LOST ? "lost" : "warning",
          description: event.data?.warningDescription,
        }),
      onOutdatedVersion: () => now.current.onAgain(),
      onRequestRefreshFile: () => now.current.onAgain(),
    };
    return { ...own, type, width: "100%", height: "100%", events };
  }, [config, type, isView]);
  const isLost = report?.kind === "lost";
  const state =
    isView || report?.kind === "readOnly" ? "view" : isFreezing ? "freezing" : isUnsent ? "saving" : "saved";
  useEffect(() => reportSaveState(isLost ? undefined : state), [isLost, state]);
  useEffect(() => () => reportSaveState(undefined), []);
  return (
    <div className="flex min-h-0 grow flex-col">
      {report === undefined ? null : <EditorAlert report={report} again={onAgain} />}
      <SkipEditorLink own={before} onPress={() => after.current?.focus()} />
      <div inert={isFreezing && !isView} className="min-h-0 grow">
        <OnlyOfficeEditor
          id={elementId}
          documentServerUrl={config.documentServerUrl ?? ""}
          // The types of the wrapper describe hand-written configurations; this one is signed by the service.
          config={whole as WrapperConfig}
          onLoadComponentError={() => (isMounted.current ? onFail() : undefined)}
        />
      </div>
      <SkipEditorLink own={after} onPress={() => before.current?.focus()} />
    </div>
  );
}

/** Data of the document server's editor events; its shape depends on the event. */
interface EditorEvent {
  data?: { mode?: string; errorDescription?: string; warningCode?: number; warningDescription?: string };
}

/** Error code of the editor for a lost connection; it accepts no more text. */
const CONNECTION_LOST = -18;

/**
 * State reported by the editor: it has stopped (`lost`), opened a document read-only that was to be edited (`readOnly`), or
 * has a remark (`warning`). `description` is in the language of the editor.
 */
interface EditorReport {
  kind: "lost" | "readOnly" | "warning";
  description?: string;
}

function EditorAlert({ report: { kind, description }, again }: { report: EditorReport; again: () => void }) {
  const { t } = useTranslation();
  const isFatal = kind !== "warning";
  return (
    <div
      role={isFatal ? "alert" : "status"}
      className={`bg-sheet flex flex-wrap items-center gap-2 rounded-xl border px-4 py-2 ${kind === "lost" ? "border-bad" : "border-warn"}`}
    >
      <p className="min-w-0 grow basis-60">
        {t(`room.editor.reports.${kind}`)}{" "}
        {description === undefined ? null : <span className="text-soft break-words">{description}</span>}
      </p>
      {isFatal ? <Button onPress={again}>{t("room.editor.reopen")}</Button> : null}
    </div>
  );
}

/** Skip link: the iframe captures Tab, so there is a link before and after it. */
function SkipEditorLink({ own: id, onPress }: { own: RefObject<HTMLButtonElement | null>; onPress: () => void }) {
  const { t } = useTranslation();
  return (
    <button ref={id} type="button" onClick={onPress} className="text-accent sr-only self-start px-2 focus:not-sr-only">
      {t("room.editor.leave")}
    </button>
  );
}
