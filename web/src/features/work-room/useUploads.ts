// Uploads to a work room, each with progress and error.
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { Problem } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { upload, type Upload } from "../../api/upload";
import type { Document } from "./workRoom";

export interface RoomUpload {
  id: string;
  name: string;
  share: number;
  problem?: unknown;
  cancel: () => void;
  retry: () => void;
}

/** Uploads files as new documents of a room. Successful uploads leave the list; failed ones stay until they are retried or dismissed. */
export function useUploads(groupId: string, workRoomId: string, assignmentId: string | undefined) {
  const cache = useQueryClient();
  const [uploads, setUploads] = useState<RoomUpload[]>([]);
  const nextId = useRef(0);
  const remove = (id: string) => setUploads((all) => all.filter((one) => one.id !== id));
  const change = (id: string, part: Partial<RoomUpload>) =>
    setUploads((all) => all.map((one) => (one.id === id ? { ...one, ...part } : one)));

  const start = (file: File) => {
    const id = String(nextId.current++);
    const form = new FormData();
    if (assignmentId !== undefined) form.append("assignmentId", assignmentId);
    form.append("file", file);
    const transfer: Upload<Document> = upload(`/workrooms/${workRoomId}/documents`, form, (share) =>
      change(id, { share }),
    );
    const retry = () => {
      remove(id);
      start(file);
    };
    setUploads((all) => [
      ...all,
      { id, name: file.name, share: 0, cancel: () => (transfer.cancel(), remove(id)), retry: retry },
    ]);
    transfer.done.then(
      () => {
        remove(id);
        void cache.invalidateQueries({ queryKey: queryKeys.room.one(groupId) });
      },
      (problem: unknown) =>
        problem instanceof Problem && problem.code === "CANCELLED" ? remove(id) : change(id, { problem }),
    );
  };
  return { sending: uploads, send: (files: readonly File[]) => files.forEach(start) };
}
