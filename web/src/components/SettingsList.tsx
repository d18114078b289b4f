import { type UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import { Button } from "./Button";
import { ErrorMessage } from "./ErrorMessage";
import { ListSkeleton } from "./ListSkeleton";
import { SettingsSection } from "./SettingsSection";

interface Props<Item extends { id: string }> {
  title: string;
  text: string;
  found: UseQueryResult<readonly Item[]>;
  /** Shown for an empty list. */
  none: string;
  /** The button that opens the dialog for a new item. */
  add: string;
  row: (item: Item, onEdit: () => void) => ReactNode;
  /** The dialog for an item, or for a new one. */
  dialog: (item: Item | null, onClose: () => void) => ReactNode;
}

/** A section of the settings with a list whose items are added and edited in one dialog. */
export function SettingsList<Item extends { id: string }>({ title, text, found, none, add, row, dialog }: Props<Item>) {
  const [edited, setEdited] = useState<Item | "new" | null>(null);
  return (
    <SettingsSection title={title} text={text}>
      {found.isPending ? <ListSkeleton count={1} /> : null}
      {found.isError && !found.data ? (
        <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
      ) : null}
      {found.data?.length === 0 ? <p className="text-soft">{none}</p> : null}
      {found.data && found.data.length > 0 ? (
        <ul className="flex flex-col gap-4">
          {found.data.map((item) => (
            <li key={item.id} className="border-line flex flex-col gap-3 border-b pb-4">
              {row(item, () => setEdited(item))}
            </li>
          ))}
        </ul>
      ) : null}
      <Button className="self-start" aria-haspopup="dialog" onPress={() => setEdited("new")}>
        {add}
      </Button>
      {edited === null ? null : dialog(edited === "new" ? null : edited, () => setEdited(null))}
    </SettingsSection>
  );
}
