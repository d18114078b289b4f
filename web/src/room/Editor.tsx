import { DocumentEditor } from "@onlyoffice/document-editor-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, data, type Schemas } from "../api/client";
import { tellWriting } from "../lib/live";
import { queryKeys } from "../lib/queryKeys";
import { Button } from "../ui/Button";
import { Problems } from "../ui/Problems";
import { Shape } from "../ui/Shape";
import { save } from "./files";
import { type Document, fileName } from "./room";
import { editorScript } from "./script";

type Config = Schemas["Editor"];

interface Props {
  document: Document;
  /** Opens a draft for reading only. */
  isView: boolean;
  isPhone: boolean;
}

/** The document in the editor of the document server. What it may do there is the service's word, not this page's. */
export function Editor({ document, isView, isPhone }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [failed, setFailed] = useState(false);
  // A change of state gives the document another key: the editor is opened anew, as a viewer where it has become one.
  const queryKey = queryKeys.document.editor(document.id, document.status, document.canEdit, isView);
  const view = useQuery({
    queryKey,
    queryFn: () =>
      data(client.GET("/workrooms/documents/{id}/editor-config", { params: { path: { id: document.id }, query: isView ? { mode: "view" as const } : {} } })),
    staleTime: Infinity,
    gcTime: 0,
  });
  const config = useHeld(view.data);
  const server = config?.documentServerUrl ?? null;
  const script = useQuery({ ...editorScript(server ?? "", config?.document.key ?? ""), enabled: server !== null });
  const isMissing = failed || script.isError;
  const again = () => {
    setFailed(false);
    if (script.isError) void script.refetch();
    void cache.resetQueries({ queryKey });
  };
  if (config === undefined) return view.isError ? <Problems problem={view.error} again={again} /> : <Shape count={1} />;
  if (isMissing || server === null) {
    return (
      <div role="alert" className="flex flex-col items-start gap-3">
        <p>{t(isMissing ? "room.editor.failed" : "room.editor.none")}</p>
        <p className="flex flex-wrap gap-2">
          {isMissing ? <Button onPress={again}>{t("problem.again")}</Button> : null}
          <Button onPress={() => save(`/api/workrooms/documents/${document.id}/download`, fileName(document))}>{t("room.editor.download")}</Button>
        </p>
      </div>
    );
  }
  if (!script.isSuccess) return <Shape count={1} />;
  // Another key is another document to the document server: nothing of the old editor may live on.
  return <Frame key={`${config.document.key} ${config.editorConfig.mode}`} document={document} config={config} isPhone={isPhone} onAgain={again} onFail={() => setFailed(true)} />;
}

/** Keeps a configuration until its key or mode changes: a token that is merely newer must not tear a writer out of the text. */
function useHeld(latest: Config | undefined): Config | undefined {
  const [held, setHeld] = useState(latest);
  const isOther = latest !== undefined && sign(held) !== sign(latest);
  if (isOther) setHeld(latest);
  return latest === undefined || isOther ? latest : held;
}

const sign = (config: Config | undefined): string => (config === undefined ? "" : `${config.document.key} ${config.editorConfig.mode} ${config.documentServerUrl}`);

interface FrameProps {
  document: Document;
  config: Config;
  isPhone: boolean;
  onAgain: () => void;
  onFail: () => void;
}

function Frame({ document, config, isPhone, onAgain, onFail }: FrameProps) {
  const { t } = useTranslation();
  const [isUnsent, setUnsent] = useState(false);
  const after = useRef<HTMLButtonElement>(null);
  const before = useRef<HTMLButtonElement>(null);
  const isView = config.editorConfig.mode === "view";
  const now = useRef({ onAgain, setUnsent, id: document.id });
  useEffect(() => {
    now.current = { onAgain, setUnsent, id: document.id };
  }, [onAgain, document.id]);
  const whole = useMemo(() => {
    const { documentServerUrl: _, ...own } = config;
    // The wrapper lets `events` of the configuration win over its own, so all of them stand here.
    const events = {
      onAppReady: () => undefined,
      onDocumentStateChange: (event: { data?: boolean }) => {
        now.current.setUnsent(event.data === true);
        if (event.data === true) tellWriting(now.current.id);
      },
      onOutdatedVersion: () => now.current.onAgain(),
      onRequestRefreshFile: () => now.current.onAgain(),
    };
    return { ...own, type: isPhone ? "mobile" : "desktop", width: "100%", height: "100%", events };
  }, [config, isPhone]);
  return (
    <div className="flex min-h-0 grow flex-col gap-1">
      <Leave own={before} onPress={() => after.current?.focus()} />
      <div className="h-[70vh] min-h-80 xl:h-auto xl:min-h-0 xl:grow">
        <DocumentEditor id={`editor-${document.id}`} documentServerUrl={config.documentServerUrl ?? ""} config={whole as never} onLoadComponentError={onFail} />
      </div>
      <Leave own={after} onPress={() => before.current?.focus()} />
      <output className="text-soft text-sm">{t(isView ? "room.editor.view" : isUnsent ? "room.editor.unsent" : "room.editor.sent")}</output>
    </div>
  );
}

/** The frame takes every Tab for itself: a way past it before it, and a way back behind it. */
function Leave({ own, onPress }: { own: RefObject<HTMLButtonElement | null>; onPress: () => void }) {
  const { t } = useTranslation();
  return (
    <button ref={own} type="button" onClick={onPress} className="text-accent sr-only self-start px-2 focus:not-sr-only">
      {t("room.editor.leave")}
    </button>
  );
}
