import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../ui/Button";
import { Heading } from "../ui/Heading";
import { Problems } from "../ui/Problems";

/** The name of the error of a screen whose code could not be fetched. */
const UNLOADED = "Unloaded";
/** The last such error that was retried: after the second one the page itself is of an older version. */
let retried: string | undefined;

/**
 * Renames the errors of screens that could not be fetched. Under their own name the router reloads the page, and without a
 * connection that ends at the browser's error page.
 */
export function nameUnloaded(): void {
  window.addEventListener("vite:preloadError", (event) => {
    const error = (event as Event & { payload: Error }).payload;
    error.message = `could not be fetched: ${error.message}`;
    error.name = UNLOADED;
  });
}

const isReachable = (): Promise<boolean> =>
  fetch("/api/health/live", { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );

/** In place of a screen that failed: what happened, and the way on. */
export function Failed({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  const router = useRouter();
  const [isPending, setPending] = useState(false);
  const [isAway, setAway] = useState(false);
  const retry = async () => {
    await router.invalidate();
    reset();
  };
  if (!(error instanceof Error) || error.name !== UNLOADED) return <Problems problem={error} again={() => void retry()} />;
  const again = async () => {
    setPending(true);
    const isThere = await isReachable();
    setAway(!isThere);
    if (isThere && retried === error.message) window.location.reload();
    else if (isThere) {
      retried = error.message;
      await retry();
    }
    setPending(false);
  };
  return (
    <div className="flex max-w-xl flex-col items-start gap-4">
      <Heading title={t("unloaded.title")}>{t("unloaded.title")}</Heading>
      <p>{t("unloaded.text")}</p>
      <output className="text-bad block empty:hidden">{isAway && !isPending ? t("problem.OFFLINE") : null}</output>
      <Button kind="main" isPending={isPending} onPress={() => void again()}>
        {t("problem.again")}
      </Button>
    </div>
  );
}
