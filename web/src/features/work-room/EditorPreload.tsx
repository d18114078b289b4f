import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { client, unwrap } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

const STORAGE_KEY = "document-server";
const isSavingData = (): boolean =>
  (navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true;

/**
 * Preloads the editor once the page has been idle for a while, unless the connection is metered. The URL comes with a
 * document; pages without one use the last known URL.
 */
export function EditorPreload({
  document,
  isOpen = false,
}: {
  document?: { id: string } | undefined;
  isOpen?: boolean;
}) {
  const [isIdle, setIdle] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIdle(!isSavingData()), 3000);
    return () => clearTimeout(timer);
  }, []);
  const { data: known } = useQuery({
    queryKey: queryKeys.editor.address(),
    queryFn: async () => {
      const { documentServerUrl } = await unwrap(
        client.GET("/workrooms/documents/{id}/editor-config", {
          params: { path: { id: document?.id ?? "" }, query: { mode: "view" } },
        }),
      );
      sessionStorage.setItem(STORAGE_KEY, documentServerUrl ?? "");
      return documentServerUrl;
    },
    enabled: isIdle && !isOpen && document !== undefined,
    staleTime: Infinity,
    retry: false,
  });
  const address = known ?? sessionStorage.getItem(STORAGE_KEY);
  if (!isIdle || isOpen || !address) return null;
  return (
    // oxlint-disable-next-line react/iframe-missing-sandbox -- the same server's editor runs without a sandbox too, and a sandbox would partition its cache
    <iframe
      hidden
      tabIndex={-1}
      aria-hidden="true"
      title="preload"
      src={`${address.replace(/\/$/, "")}/web-apps/apps/api/documents/preload.html`}
    />
  );
}
