import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, Link, Outlet } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { RouteError } from "../components/layout/RouteError";
import { PageHeading } from "../components/PageHeading";

export const Route = createRootRouteWithContext<{ cache: QueryClient }>()({
  component: Outlet,
  notFoundComponent: Missing,
  errorComponent: (props) => (
    <main className="mx-auto max-w-xl p-6">
      <RouteError {...props} />
    </main>
  ),
});

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
