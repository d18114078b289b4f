// Current and finished downloads. They are kept outside of the screens, so that navigation does not abort them.
import { useSyncExternalStore } from "react";

import type { ArchiveProgress } from "./archiveProgress";

export interface Download {
  id: number;
  name: string;
  state: "running" | "ready" | "failed";
  progress: ArchiveProgress;
  /** Object URL of the finished file, to save it again. */
  href?: string;
  /** Files that the archive reports as missing. */
  missing: readonly string[];
  problem?: unknown;
  again: () => void;
  stop: () => void;
}

let downloads: readonly Download[] = [];
const listeners = new Set<() => void>();

function publish(next: readonly Download[]): void {
  downloads = next;
  for (const listener of listeners) listener();
}

const listen = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useDownloads = (): readonly Download[] => useSyncExternalStore(listen, () => downloads);
export const addDownload = (download: Download): void => publish([...downloads, download]);
export const updateDownload = (id: number, part: Partial<Download>): void =>
  publish(downloads.map((one) => (one.id === id ? { ...one, ...part } : one)));

/** Removes a download from the list; aborts it if it is running. */
export function dismissDownload(id: number): void {
  const gone = downloads.find((one) => one.id === id);
  gone?.stop();
  if (gone?.href) URL.revokeObjectURL(gone.href);
  publish(downloads.filter((one) => one.id !== id));
}

export function dismissAllDownloads(): void {
  for (const one of downloads) dismissDownload(one.id);
}
