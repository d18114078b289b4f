// Uploads of topic attachments, with progress and errors.
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { Problem } from "../../api/client";
import { upload } from "../../api/upload";
import { refreshTopics } from "./topic";

/** One upload. */
export interface AttachmentUpload {
  key: number;
  name: string;
  /** 0 to 1. */
  share: number;
  problem?: unknown;
}

/** Uploads files one at a time; each can be cancelled, and rejected ones stay in the list. */
export function useAttachmentUploads() {
  const cache = useQueryClient();
  const [uploads, setUploads] = useState<readonly AttachmentUpload[]>([]);
  const next = useRef(0);
  const cancels = useRef(new Map<number, () => void>());
  const set = (key: number, change: Partial<AttachmentUpload>) =>
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...change } : one)));
  const remove = (key: number) => setUploads((all) => all.filter((one) => one.key !== key));

  const sendOne = async (
    topicId: string,
    file: File,
    key: number,
    groupAssignmentId: string | null,
  ): Promise<boolean> => {
    const form = new FormData();
    // The service reads the parts in order.
    if (groupAssignmentId !== null) form.append("groupAssignmentId", groupAssignmentId);
    form.append("file", file);
    const sent = upload(`/assignments/${topicId}/attachments`, form, (share) => set(key, { share }));
    cancels.current.set(key, sent.cancel);
    try {
      await sent.done;
      remove(key);
      return true;
    } catch (problem) {
      if (problem instanceof Problem && problem.code === "CANCELLED") remove(key);
      else set(key, { problem });
      return false;
    } finally {
      cancels.current.delete(key);
    }
  };

  /** Returns the number of successful uploads. */
  const send = async (
    topicId: string,
    files: readonly File[],
    groupAssignmentId: string | null = null,
  ): Promise<number> => {
    const queue = files.map((file) => ({ file, key: next.current++ }));
    setUploads((all) => [...all, ...queue.map(({ file, key }) => ({ key, name: file.name, share: 0 }))]);
    const stopped = new Set<number>();
    for (const { key } of queue) cancels.current.set(key, () => (stopped.add(key), remove(key)));
    let arrived = 0;
    for (const { file, key } of queue) {
      // oxlint-disable-next-line no-await-in-loop -- sequential: parallel uploads would share a slow connection
      if (!stopped.has(key) && (await sendOne(topicId, file, key, groupAssignmentId))) arrived += 1;
    }
    await refreshTopics(cache);
    return arrived;
  };

  /** Cancels an upload, or removes a rejected one. */
  const cancel = (key: number) => {
    const stop = cancels.current.get(key);
    if (stop) stop();
    else remove(key);
  };
  return { sendings: uploads, send, cancel };
}
