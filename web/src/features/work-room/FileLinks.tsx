import { Paperclip } from "lucide-react";
import { useTranslation } from "react-i18next";

import { formatSize } from "./files";

/** Files to download, as links. */
export function FileLinks({
  files,
}: {
  files: readonly { id: string; url: string; fileName: string; size: number }[];
}) {
  const { i18n } = useTranslation();
  if (files.length === 0) return null;
  return (
    <ul className="flex flex-col">
      {files.map((file) => (
        <li key={file.id}>
          <a href={file.url} download className="inline-flex min-h-11 max-w-full items-center gap-2">
            <Paperclip aria-hidden="true" className="size-4 shrink-0" />
            <span className="min-w-0 break-words">{file.fileName}</span>
            <span className="text-soft shrink-0 text-sm">{formatSize(file.size, i18n.language)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
