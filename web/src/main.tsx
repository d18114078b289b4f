import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRouter, RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { Problem } from "./api/client";
import { currentAddress } from "./auth/oldAddresses";
import { queryKeys } from "./api/queryKeys";
import { initI18n } from "./i18n";
import { routeTree } from "./routeTree.gen";
import { RouteError, renameChunkErrors } from "./components/layout/RouteError";
import "./styles.css";

const SCHOOL_DAY = 12 * 3_600_000;

const cache = new QueryClient({
  // Any query detects a session that has ended.
  queryCache: new QueryCache({
    onError: (problem) => {
      if (problem instanceof Problem && problem.status === 401)
        void cache.invalidateQueries({ queryKey: queryKeys.me.self() });
    },
  }),
  // Without a network a mutation fails immediately with an error. The default would pause it and run it much later.
  defaultOptions: {
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      refetchOnReconnect: true,
      staleTime: 15_000,
      // Data viewed today is available again without a connection.
      gcTime: SCHOOL_DAY,
      // Rejected requests are not retried; failed connections are.
      retry: (count, problem) =>
        count < 2 && problem instanceof Problem && (problem.status === 0 || problem.status >= 500),
    },
  },
});

// Addresses of earlier versions are in bookmarks and messages.
const { pathname, search, hash } = window.location;
const address = currentAddress(pathname);
if (address !== pathname) window.history.replaceState(null, "", address + search + hash);

const router = createRouter({
  routeTree,
  context: { cache },
  defaultPreload: "intent",
  defaultErrorComponent: RouteError,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

renameChunkErrors();

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no #root");
await initI18n();
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={cache}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
