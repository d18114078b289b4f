/**
 * Keeps the focus near a list item that may be removed: call it before the change, and call the returned function when the
 * change is complete. If the item was removed, the first link or button of the next item gets the focus, else of the
 * previous item, else of the container.
 */
export function keepFocusNear(within: Element | null): () => void {
  const item = within?.closest("li");
  const neighbours =
    item?.nextElementSibling ??
    item?.previousElementSibling ??
    item?.parentElement?.closest("li, section, [role=tabpanel]");
  const first = (of: Element | null | undefined) => of?.querySelector<HTMLElement>("a, button");
  const isLost = () => document.activeElement === null || document.activeElement === document.body;
  const move = () => {
    if (isLost())
      (
        first(within?.isConnected ? within : neighbours?.isConnected ? neighbours : null) ??
        document.querySelector<HTMLElement>("main h1")
      )?.focus();
  };
  return () => {
    if (isLost()) return move();
    // The page renders the response of the service a moment later.
    const watch = new MutationObserver(() => {
      if (!isLost()) return;
      watch.disconnect();
      move();
    });
    watch.observe(document.body, { childList: true, subtree: true });
    setTimeout(() => watch.disconnect(), 2_000);
  };
}
