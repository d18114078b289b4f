import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";

/** Rows that are rendered at first, and added when the end of the list comes into view. */
const STEP = 50;
/** Number of rows that were shown, by list: the scroll position survives the way back. */
const shownRows = new Map<string, number>();

/**
 * The part of a long list that is rendered, and what follows it: more rows are added when the end comes into view, or by its
 * button. `id` names the list and what it is filtered by.
 */
export function useLongList<T>(id: string, items: readonly T[]): { shown: readonly T[]; rest: ReactNode } {
  const [state, setState] = useState({ id, count: shownRows.get(id) ?? STEP });
  const count = state.id === id ? state.count : (shownRows.get(id) ?? STEP);
  const showMore = () => {
    shownRows.set(id, count + STEP);
    setState({ id, count: count + STEP });
  };
  const shown = items.slice(0, count);
  return {
    shown,
    rest: shown.length < items.length ? <Rest left={items.length - shown.length} onMore={showMore} /> : null,
  };
}

function Rest({ left, onMore }: { left: number; onMore: () => void }) {
  const { t } = useTranslation();
  const end = useRef<HTMLDivElement>(null);
  const more = useRef(onMore);
  useEffect(() => {
    more.current = onMore;
  });
  useEffect(() => {
    if (end.current === null) return;
    const watch = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && more.current(),
      { rootMargin: "600px" },
    );
    watch.observe(end.current);
    return () => watch.disconnect();
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- an end that stays in view reports itself only once per observer
  }, [left]);
  return (
    <div ref={end} className="flex justify-center py-2">
      <Button kind="quiet" onPress={onMore}>
        {t("app.moreRows", { count: left })}
      </Button>
    </div>
  );
}
