import { queryOptions } from "@tanstack/react-query";

import { queryKeys } from "../../api/queryKeys";

/**
 * The script of the document server, once for a page. It is here before the editor stands on the page: an editor that waits
 * for it by itself would be made for a page that has been left meanwhile, and be missing when somebody comes back.
 */
export const editorScriptQuery = (server: string, shard: string) =>
  queryOptions({
    queryKey: queryKeys.editor.script(server),
    queryFn: () => loadScript(`${server.replace(/\/$/, "")}/web-apps/apps/api/documents/api.js?shardkey=${encodeURIComponent(shard)}`),
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
  // Once it is loaded it stays: the document server's script finds its own address by the element.
  return new Promise((resolve, reject) => {
    const fail = () => {
      script.remove();
      reject(new Error(src));
    };
    script.addEventListener("load", () => (isLoaded() ? resolve(true) : fail()));
    script.addEventListener("error", fail);
  });
}
