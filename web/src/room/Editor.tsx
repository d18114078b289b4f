import { DocumentEditor } from "@onlyoffice/document-editor-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import { tellWriting } from "../lib/live";
import { Button } from "../ui/Button";
import { Problems } from "../ui/Problems";
import { Shape } from "../ui/Shape";
import type { Document } from "./room";

/** The document in the editor of the document server. What it may do there is the service's word, not this page's; `mode` only asks for less. */
export function Editor({ document, mode }: { document: Document; mode?: "view" }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [failed, setFailed] = useState(false);
  const [isUnsent, setUnsent] = useState(false);
  // A change of state gives the document another key: the editor is opened anew, as a viewer where it has become one.
  const queryKey = ["document", document.id, "editor", document.status, mode];
  const view = useQuery({
    queryKey,
    queryFn: () => data(client.GET("/workrooms/documents/{id}/editor-config", { params: { path: { id: document.id }, query: mode ? { mode } : {} } })),
    staleTime: Infinity,
    gcTime: 0,
  });
  const again = () => {
    setFailed(false);
    void cache.resetQueries({ queryKey });
  };
  if (view.isPending) return <Shape count={1} />;
  if (view.isError) return <Problems problem={view.error} again={again} />;
  const { documentServerUrl, ...config } = view.data;
  if (failed || !documentServerUrl) {
    return (
      <div role="alert" className="flex flex-col items-start gap-3">
        <p>{documentServerUrl ? t("editor.failed") : t("editor.none")}</p>
        <Button onPress={again}>{t("problem.again")}</Button>
        <a href={`/api/workrooms/documents/${document.id}/download`} download>
          {t("editor.download")}
        </a>
      </div>
    );
  }
  const isView = config.editorConfig.mode === "view";
  return (
    <div className="flex grow flex-col gap-1">
      <a href="#after-editor" className="sr-only focus:not-sr-only">
        {t("editor.leave")}
      </a>
      <output className="text-soft text-sm">{isView ? t("editor.view") : isUnsent ? t("editor.unsent") : t("editor.sent")}</output>
      <div className="h-[75vh] min-h-96">
        <DocumentEditor
          key={config.document.key}
          id={`editor-${document.id}`}
          documentServerUrl={documentServerUrl}
          config={{ ...config, events: { onOutdatedVersion: again, onRequestRefreshFile: again } } as never}
          onLoadComponentError={() => setFailed(true)}
          events_onDocumentStateChange={(event) => {
            const changed = (event as { data?: boolean }).data === true;
            setUnsent(changed);
            if (changed) tellWriting(document.id);
          }}
        />
      </div>
      <span id="after-editor" tabIndex={-1} />
    </div>
  );
}
