/** Usage as a bar; the text next to it states the same. */
export function UsageBar({ label, used, of }: { label: string; used: number; of: number }) {
  const share = of === 0 ? 1 : Math.min(1, used / of);
  const tone = share > 0.9 ? "text-bad" : share > 0.75 ? "text-warn" : "text-accent";
  return (
    <div className="bg-faint border-line h-3 overflow-hidden rounded-full border">
      <meter aria-label={label} min={0} max={100} value={Math.round(share * 100)} className="sr-only" />
      <svg aria-hidden="true" className={`block h-full w-full ${tone}`} preserveAspectRatio="none" viewBox="0 0 100 1">
        <rect width={used === 0 ? 0 : Math.max(0.5, share * 100)} height="1" fill="currentColor" />
      </svg>
    </div>
  );
}
