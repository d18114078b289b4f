import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useDebounce } from "../../hooks/useDebounce";
import { ComboBox } from "../../forms/ComboBox";
import { userSearchQuery } from "./classes";

interface Props {
  label: string;
  roles: readonly ("STUDENT" | "TEACHER" | "ADMIN")[];
  /** Ids to exclude from the results. */
  excludedIds: ReadonlySet<string>;
  onPick: (person: { id: string; name: string }) => void;
}

/** Searches users of the school by name and picks one. */
export function PersonPicker({ label, roles, excludedIds, onPick }: Props) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const text = useDebounce(typed.trim());
  const search = useQuery(userSearchQuery(roles, text));
  const found = (search.data ?? [])
    .filter((person) => !excludedIds.has(person.id))
    .map((person) => ({ id: person.id, name: person.name, ...(person.email ? { note: person.email } : {}) }));
  const isOutdated = typed.trim() !== text || search.isPlaceholderData;
  const none =
    isOutdated || search.isPending
      ? t("courses.looking")
      : search.isError
        ? t("problem.OFFLINE")
        : t("courses.nobodyFound");
  return (
    <ComboBox
      label={label}
      input={typed}
      onInput={setTyped}
      options={found}
      none={none}
      isOutdated={isOutdated}
      onPick={(id) => {
        const person = found.find((one) => one.id === id);
        setTyped("");
        if (person) onPick(person);
      }}
    />
  );
}
