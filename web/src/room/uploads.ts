// Files on their way into the room, each with its progress and what went wrong with it.
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { Problem } from "../api/client";
import { queryKeys } from "../lib/queryKeys";
import { upload, type Upload } from "../lib/upload";
import type { Document } from "./room";

export interface Sending {
  id: string;
  name: string;
  share: number;
  problem?: unknown;
  cancel: () => void;
  again: () => void;
}

/** Sends files as new documents of a room. What worked vanishes from the list; what failed stays until it is sent again or dismissed. */
export function useUploads(groupId: string, workRoomId: string, assignmentId: string | undefined) {
  const cache = useQueryClient();
  const [sending, setSending] = useState<Sending[]>([]);
  const number = useRef(0);
  const drop = (id: string) => setSending((all) => all.filter((one) => one.id !== id));
  const change = (id: string, part: Partial<Sending>) => setSending((all) => all.map((one) => (one.id === id ? { ...one, ...part } : one)));

  const start = (file: File) => {
    const id = String(number.current++);
    const form = new FormData();
    if (assignmentId !== undefined) form.append("assignmentId", assignmentId);
    form.append("file", file);
    const going: Upload<Document> = upload(`/workrooms/${workRoomId}/documents`, form, (share) => change(id, { share }));
    const again = () => {
      drop(id);
      start(file);
    };
    setSending((all) => [...all, { id, name: file.name, share: 0, cancel: () => (going.cancel(), drop(id)), again }]);
    going.done.then(
      () => {
        drop(id);
        void cache.invalidateQueries({ queryKey: queryKeys.room.one(groupId) });
      },
      (problem: unknown) => (problem instanceof Problem && problem.code === "CANCELLED" ? drop(id) : change(id, { problem })),
    );
  };
  return { sending, send: (files: readonly File[]) => files.forEach(start) };
}
