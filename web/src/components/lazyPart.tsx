// Components that are loaded when they are first rendered. A failed load shows an error with a retry instead of failing the
// whole page.
import { type ComponentType, createElement, type FunctionComponent, lazy, useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";

type Load<P> = () => Promise<ComponentType<P>>;

const loaders = new Set<() => Promise<unknown>>();

/** A component whose code can be loaded before it is rendered. */
type LazyPart<P> = FunctionComponent<P> & { prefetch: () => void };

/** A lazily loaded component; requires a `Suspense` boundary. One that was prefetched is rendered without suspending. */
export function lazyPart<P extends object>(load: Load<P>): LazyPart<P> {
  let loaded: ComponentType<P> | undefined;
  const loadOnce: Load<P> = async () => {
    loaded ??= await load();
    return loaded;
  };
  loaders.add(loadOnce);
  // `lazy` caches failures permanently, so it never receives one.
  const Lazy = lazy(async () => ({ default: await loadOnce().catch(() => withRetry(loadOnce)) }));
  function Part(props: P) {
    // React shows what suspended at least 300 ms later. The choice is kept: another type would lose the state of the component.
    const [part] = useState(() => loaded ?? (Lazy as unknown as ComponentType<P>));
    return createElement(part, props);
  }
  return Object.assign(Part, { prefetch: () => void loadOnce().catch(() => undefined) });
}

/** Prefetches all lazy components of the pages loaded so far. */
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
      <div
        role="alert"
        className="bg-sheet border-bad fixed inset-x-2 bottom-2 z-40 flex flex-wrap items-center gap-3 rounded-lg border p-3"
      >
        {t("unloaded.part")}
        <Button isPending={isPending} onPress={() => void again()}>
          {t("problem.again")}
        </Button>
      </div>
    );
  };
}
