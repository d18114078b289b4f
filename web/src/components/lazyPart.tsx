// Parts of a page whose code is fetched when they are shown first. One that cannot be fetched shows an error and offers to try
// again, in place of the whole page going away.
import { type ComponentType, createElement, type FunctionComponent, lazy, useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";

type Load<P> = () => Promise<ComponentType<P>>;

const loaders = new Set<() => Promise<unknown>>();

/** A component that is fetched when it is rendered first; inside a `Suspense`. */
export function lazyPart<P extends object>(load: Load<P>): FunctionComponent<P> {
  loaders.add(load);
  // `lazy` keeps a failure for good, so it never gets one.
  return lazy(async () => ({ default: await load().catch(() => withRetry(load)) })) as unknown as FunctionComponent<P>;
}

/** Fetches every part that the pages fetched so far may show. */
export async function prefetchLazyParts(): Promise<void> {
  for (const load of loaders) await load().catch(() => undefined);
}

function withRetry<P extends object>(load: Load<P>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Retrying(props: P) {
    const { t } = useTranslation();
    const [isPending, setPending] = useState(false);
    if (loaded !== undefined) return createElement(loaded, props);
    const again = async () => {
      setPending(true);
      loaded = await load().catch(() => undefined);
      setPending(false);
    };
    return (
      <div role="alert" className="bg-sheet border-bad fixed inset-x-2 bottom-2 z-40 flex flex-wrap items-center gap-3 rounded-lg border p-3">
        {t("unloaded.part")}
        <Button isPending={isPending} onPress={() => void again()}>
          {t("problem.again")}
        </Button>
      </div>
    );
  };
}
