/** Skeleton of a list while it loads. */
export function ListSkeleton({ count = 6 }: { count?: number }) {
  return (
    <div aria-busy="true" className="border-faint bg-sheet flex flex-col gap-4 rounded-xl border p-4">
      {Array.from({ length: count }, (_, index) => (
        <div key={index} className="bg-faint h-8 animate-pulse rounded" />
      ))}
    </div>
  );
}
