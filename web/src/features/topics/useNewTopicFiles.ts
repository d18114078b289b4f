// The files of a topic that does not exist yet: they are sent after it is created.
import { useState } from "react";

import type { TextPictures } from "../../forms/MarkdownField";
import { pictureName } from "../../forms/markdownEdits";

/** A file to send, for one group or (null) for all. */
export interface NewTopicFile {
  file: File;
  groupId: string | null;
}

export interface NewTopicFiles {
  files: readonly NewTopicFile[];
  add: (files: readonly File[], groupId: string | null) => void;
  remove: (file: NewTopicFile) => void;
  picturesOf: (groupId: string | null) => TextPictures;
}

const isFor = (groupId: string | null) => (one: NewTopicFile) => one.groupId === null || one.groupId === groupId;

/** The content of a picture as an address; the page may load no addresses of objects. */
const dataUrl = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(reader.error ?? new Error("unreadable file")));
    reader.readAsDataURL(file);
  });

export function useNewTopicFiles(): NewTopicFiles {
  const [files, setFiles] = useState<readonly NewTopicFile[]>([]);
  const [previews, setPreviews] = useState<ReadonlyMap<File, string>>(new Map());
  const add = (more: readonly File[], groupId: string | null) =>
    setFiles((before) => [...before, ...more.map((file) => ({ file, groupId }))]);
  return {
    files,
    add,
    remove: (file) => setFiles((before) => before.filter((one) => one !== file)),
    picturesOf: (groupId) => ({
      urls: Object.fromEntries(
        files.filter(isFor(groupId)).flatMap(({ file }) => {
          const preview = previews.get(file);
          return preview === undefined ? [] : [[file.name, preview]];
        }),
      ),
      add: async (chosen) => {
        const taken = files.map(({ file }) => file.name);
        const picture = new File([chosen], pictureName(chosen.name, taken), { type: chosen.type });
        const preview = await dataUrl(picture);
        setPreviews((before) => new Map([...before, [picture, preview]]));
        add([picture], groupId);
        return picture.name;
      },
    }),
  };
}
