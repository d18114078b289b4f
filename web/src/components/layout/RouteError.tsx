import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../Button";
import { PageHeading } from "../PageHeading";
import { ErrorMessage } from "../ErrorMessage";

/** The name of the error of a screen whose code could not be fetched. */
const CHUNK_ERROR_NAME = "Unloaded";
/** The last such error that was retried: after the second one the page itself is of an older version. */
let lastRetried: string | undefined;

/**
 * Renames the errors of screens that could not be fetched. Under their own name the router reloads the page, and without a
 * connection that ends at the browser's error page.
 */
export function renameChunkErrors(): void {
  window.addEventListener("vite:preloadError", (event) => {
    const error = (event as Event & { payload: Error }).payload;
    error.message = `could not be fetched: ${error.message}`;
    error.name = CHUNK_ERROR_NAME;
  });
}

const isReachable = (): Promise<boolean> =>
  fetch("/api/health/live", { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );

/** In place of a screen that failed: what happened, and the way on. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  const router = useRouter();
  const [isPending, setPending] = useState(false);
  const [isOffline, setOffline] = useState(false);
  const resetRoute = async () => {
    await router.invalidate();
    reset();
  };
  if (!(error instanceof Error) || error.name !== CHUNK_ERROR_NAME) return <ErrorMessage problem={error} onRetry={() => void resetRoute()} />;
  const retry = async () => {
    setPending(true);
    const isReached = await isReachable();
    setOffline(!isReached);
    if (isReached && lastRetried === error.message) window.location.reload();
    else if (isReached) {
      lastRetried = error.message;
      await resetRoute();
    }
    setPending(false);
  };
  return (
    <div className="flex max-w-xl flex-col items-start gap-4">
      <PageHeading title={t("unloaded.title")}>{t("unloaded.title")}</PageHeading>
      <p>{t("unloaded.text")}</p>
      <output className="text-bad block empty:hidden">{isOffline && !isPending ? t("problem.OFFLINE") : null}</output>
      <Button kind="main" isPending={isPending} onPress={() => void retry()}>
        {t("problem.again")}
      </Button>
    </div>
  );
}
