/** Skeleton of content while it loads: grey cards, announced as "busy" only. */
export function Skeleton({ count = 3 }: { count?: number }) {
  return (
    <div aria-busy="true" className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      {Array.from({ length: count }, (_, index) => (
        <div key={index} className="bg-faint h-28 animate-pulse rounded-xl" />
      ))}
    </div>
  );
}
