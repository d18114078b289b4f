import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { foldCase } from "../../i18n/names";
import { staffQuery } from "../users/users";
import { ComboBox } from "../../forms/ComboBox";

/** Selects the teacher of a homeroom by name; none when the field is cleared. */
export function TeacherField({
  value,
  onChange,
  problem,
}: {
  value: string | null;
  onChange: (id: string | null) => void;
  problem?: string | undefined;
}) {
  const { t } = useTranslation();
  const { data: known = [] } = useQuery(staffQuery);
  const [typed, setTyped] = useState<string | null>(null);
  const name = known.find((user) => user.id === value)?.name ?? "";
  const input = typed ?? name;
  const wanted = input === name ? "" : foldCase(input);
  const found = known.filter((user) => foldCase(user.name).includes(wanted)).slice(0, 50);
  return (
    <ComboBox
      label={t("homerooms.teacher")}
      input={input}
      onInput={(text) => {
        setTyped(text);
        if (text === "") onChange(null);
      }}
      options={found.map((user) => ({ id: user.id, name: user.name, ...(user.email ? { note: user.email } : {}) }))}
      value={value}
      onPick={(id) => {
        onChange(id);
        setTyped(known.find((user) => user.id === id)?.name ?? "");
      }}
      none={t("homerooms.noTeacherFound")}
      problem={problem}
    />
  );
}
