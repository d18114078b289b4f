import { Upload } from "lucide-react";
import type { ReactNode } from "react";
import { DropZone, FileTrigger, type FileDropItem } from "react-aria-components";

import { Button } from "../components/Button";

interface Props {
  /** Text of the button. */
  label: string;
  /** Description of accepted files. */
  hint: string;
  accept?: readonly string[];
  isMany?: boolean;
  isPending?: boolean;
  onFiles: (files: File[]) => void;
  children?: ReactNode;
}

/** Drop zone for files, with a button that opens the file chooser. */
export function FileDropZone({ label, hint, accept, isMany = false, isPending = false, onFiles, children }: Props) {
  const take = (files: File[]) => files.length > 0 && onFiles(isMany ? files : files.slice(0, 1));
  return (
    <DropZone
      aria-label={label}
      onDrop={(event) =>
        void Promise.all(
          event.items.filter((item): item is FileDropItem => item.kind === "file").map((item) => item.getFile()),
        ).then(take)
      }
      className="border-line data-drop-target:border-accent data-drop-target:bg-faint flex flex-wrap items-center gap-3 rounded-xl border border-dashed p-3"
    >
      <FileTrigger
        allowsMultiple={isMany}
        {...(accept ? { acceptedFileTypes: accept } : {})}
        onSelect={(files) => take([...(files ?? [])])}
      >
        <Button isPending={isPending}>
          <Upload aria-hidden="true" className="size-4" />
          {label}
        </Button>
      </FileTrigger>
      <span className="text-soft text-sm">{hint}</span>
      {children}
    </DropZone>
  );
}
