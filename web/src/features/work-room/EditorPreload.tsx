import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { client, unwrap } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

const STORAGE_KEY = "document-server";
const isSavingData = (): boolean => (navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true;

/**
 * Lets the browser fetch the editor before somebody needs it, once the page has been still for a while and where the line has
 * no price. The address comes with a document; pages without one use what was told before.
 */
export function EditorPreload({ document, isOpen = false }: { document?: { id: string } | undefined; isOpen?: boolean }) {
  const [isIdle, setIdle] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIdle(!isSavingData()), 3000);
    return () => clearTimeout(timer);
  }, []);
  const { data: known } = useQuery({
    queryKey: queryKeys.editor.address(),
    queryFn: async () => {
      const { documentServerUrl } = await unwrap(
        client.GET("/workrooms/documents/{id}/editor-config", { params: { path: { id: document?.id ?? "" }, query: { mode: "view" } } }),
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
  // oxlint-disable-next-line react/iframe-missing-sandbox -- the same server's editor runs unfenced too, and a fence would keep what is fetched out of its cache
  return <iframe hidden tabIndex={-1} aria-hidden="true" title="preload" src={`${address.replace(/\/$/, "")}/web-apps/apps/api/documents/preload.html`} />;
}
