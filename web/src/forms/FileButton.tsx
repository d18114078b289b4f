import { Upload } from "lucide-react";
import { FileTrigger } from "react-aria-components";

import { Button } from "../components/Button";

interface Props {
  children: string;
  /** Accessible name, where the visible text does not identify the target. */
  label?: string;
  kind?: "plain" | "quiet";
  isPending?: boolean;
  isMany?: boolean;
  onFiles: (files: File[]) => void;
}

/** A button that opens the file chooser, for places without room for a drop zone. */
export function FileButton({ children, label, kind = "plain", isPending = false, isMany = false, onFiles }: Props) {
  return (
    <FileTrigger allowsMultiple={isMany} onSelect={(files) => files && files.length > 0 && onFiles([...files])}>
      <Button
        kind={kind}
        className={kind === "quiet" ? "px-2" : ""}
        isPending={isPending}
        {...(label === undefined ? {} : { "aria-label": label })}
      >
        <Upload aria-hidden="true" className="size-4" />
        {children}
      </Button>
    </FileTrigger>
  );
}
