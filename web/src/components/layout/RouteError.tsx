import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../Button";
import { PageHeading } from "../PageHeading";
import { ErrorMessage } from "../ErrorMessage";

/** Error name of screens whose code could not be loaded. */
const CHUNK_ERROR_NAME = "Unloaded";
/** The last such error that was retried; if the retry fails too, the page belongs to an older version. */
let lastRetried: string | undefined;

/**
 * Renames errors of screens that could not be loaded. Under their original name the router reloads the page, which without a
 * connection ends at the browser's error page.
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

/** Shown instead of a screen that failed: explanation and retry. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  const router = useRouter();
  const [isPending, setPending] = useState(false);
  const [isOffline, setOffline] = useState(false);
  const resetRoute = async () => {
    await router.invalidate();
    reset();
  };
  if (!(error instanceof Error) || error.name !== CHUNK_ERROR_NAME)
    return <ErrorMessage problem={error} onRetry={() => void resetRoute()} />;
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
