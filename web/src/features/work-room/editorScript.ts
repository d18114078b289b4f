import { queryOptions } from "@tanstack/react-query";

import { queryKeys } from "../../api/queryKeys";

/**
 * Loads the API script of the document server, once per page and before the editor is mounted: an editor that waits for the
 * script itself would be created for a page that may have been left meanwhile, and be missing when the user returns.
 */
export const editorScriptQuery = (server: string, shard: string) =>
  queryOptions({
    queryKey: queryKeys.editor.script(server),
    queryFn: () =>
      loadScript(
        `${server.replace(/\/$/, "")}/web-apps/apps/api/documents/api.js?shardkey=${encodeURIComponent(shard)}`,
      ),
    staleTime: Infinity,
    retry: false,
    networkMode: "always",
  });

const isLoaded = (): boolean => "DocsAPI" in window;

function loadScript(src: string): Promise<true> {
  if (isLoaded()) return Promise.resolve(true);
  const script = document.createElement("script");
  script.src = src;
  document.body.append(script);
  // The script element stays: the document server's script finds its own URL by it.
  return new Promise((resolve, reject) => {
    const fail = () => {
      script.remove();
      reject(new Error(src));
    };
    script.addEventListener("load", () => (isLoaded() ? resolve(true) : fail()));
    script.addEventListener("error", fail);
  });
}
