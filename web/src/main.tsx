import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRouter, RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { Problem } from "./api/client";
import { queryKeys } from "./api/queryKeys";
import { initI18n } from "./i18n";
import { routeTree } from "./routeTree.gen";
import { RouteError, renameChunkErrors } from "./components/layout/RouteError";
import "./styles.css";

const SCHOOL_DAY = 12 * 3_600_000;

const cache = new QueryClient({
  // A session that ended is noticed by whichever question comes next.
  queryCache: new QueryCache({
    onError: (problem) => {
      if (problem instanceof Problem && problem.status === 401) void cache.invalidateQueries({ queryKey: queryKeys.me.self() });
    },
  }),
  // Without a network a call fails and says so; waiting for one in silence, a press from long ago would be carried out at last.
  defaultOptions: {
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      refetchOnReconnect: true,
      staleTime: 15_000,
      // What was seen today can be seen again without a connection.
      gcTime: SCHOOL_DAY,
      // What was refused stays refused; what did not arrive may arrive.
      retry: (count, problem) => count < 2 && problem instanceof Problem && (problem.status === 0 || problem.status >= 500),
    },
  },
});

const router = createRouter({ routeTree, context: { cache }, defaultPreload: "intent", defaultErrorComponent: RouteError, scrollRestoration: true });

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
