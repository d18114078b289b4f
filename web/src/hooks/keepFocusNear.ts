/**
 * Keeps the focus near a line of a list that may go: call it before, and what it answers when the change is through. When the line
 * has gone, the first link or button has the focus of the line after it, else of the one before, else of what the list stands in.
 */
export function keepFocusNear(within: Element | null): () => void {
  const item = within?.closest("li");
  const neighbours = item?.nextElementSibling ?? item?.previousElementSibling ?? item?.parentElement?.closest("li, section, [role=tabpanel]");
  const first = (of: Element | null | undefined) => of?.querySelector<HTMLElement>("a, button");
  const isLost = () => document.activeElement === null || document.activeElement === document.body;
  const move = () => {
    if (isLost()) (first(within?.isConnected ? within : neighbours?.isConnected ? neighbours : null) ?? document.querySelector<HTMLElement>("main h1"))?.focus();
  };
  return () => {
    if (isLost()) return move();
    // The page shows what the service has said a moment later.
    const watch = new MutationObserver(() => {
      if (!isLost()) return;
      watch.disconnect();
      move();
    });
    watch.observe(document.body, { childList: true, subtree: true });
    setTimeout(() => watch.disconnect(), 2_000);
  };
}
