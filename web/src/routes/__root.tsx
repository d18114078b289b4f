import { type Query, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, Link, Outlet } from "@tanstack/react-router";
import { Suspense, useEffect } from "react";
import { useTranslation } from "react-i18next";

import { useMaintenance } from "../api/maintenance";
import { lazyPart } from "../components/lazyPart";
import { RouteError } from "../components/layout/RouteError";
import { PageHeading } from "../components/PageHeading";

const MaintenanceBanner = lazyPart(
  async () => (await import("../components/layout/MaintenanceBanner")).MaintenanceBanner,
);

export const Route = createRootRouteWithContext<{ cache: QueryClient }>()({
  component: Root,
  notFoundComponent: Missing,
  errorComponent: (props) => (
    <main className="mx-auto max-w-xl p-6">
      <RouteError {...props} />
    </main>
  ),
});

/** Whether a document was opened for reading only, as all documents are during maintenance. */
const isReadOnlyEditor = ({ state }: Query): boolean =>
  (state.data as { editorConfig?: { mode?: string } } | undefined)?.editorConfig?.mode === "view";

function Root() {
  const cache = useQueryClient();
  const maintenance = useMaintenance();
  const isOn = maintenance !== null;
  useEffect(() => {
    if (!isOn) return;
    return () => void cache.invalidateQueries({ predicate: isReadOnlyEditor });
  }, [cache, isOn]);
  return (
    <>
      {maintenance === null ? null : (
        <Suspense>
          <MaintenanceBanner {...maintenance} />
        </Suspense>
      )}
      <Outlet />
    </>
  );
}

function Missing() {
  const { t } = useTranslation();
  return (
    <main className="mx-auto flex max-w-xl flex-col gap-3 p-6">
      <PageHeading title={t("missing.title")}>{t("missing.title")}</PageHeading>
      <p>{t("missing.text")}</p>
      <Link to="/">{t("missing.home")}</Link>
    </main>
  );
}
