/** The shape of what is on its way: grey sheets that say nothing to a screen reader but "busy". */
export function Skeleton({ count = 3 }: { count?: number }) {
  return (
    <div aria-busy="true" className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      {Array.from({ length: count }, (_, index) => (
        <div key={index} className="bg-faint h-28 animate-pulse rounded-xl" />
      ))}
    </div>
  );
}
