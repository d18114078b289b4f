import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useCalm } from "../lib/calm";
import { Search } from "../ui/Search";
import { people } from "./classes";

interface Props {
  label: string;
  roles: readonly ("STUDENT" | "TEACHER" | "ADMIN")[];
  /** Who is there already. */
  without: ReadonlySet<string>;
  onPick: (person: { id: string; name: string }) => void;
}

/** Finds somebody of the school by name; picking is all that is to be done. */
export function FindPerson({ label, roles, without, onPick }: Props) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const text = useCalm(typed.trim());
  const answers = useQueries({ queries: roles.map((role) => people(role, text)) });
  const found = answers
    .flatMap((answer) => answer.data ?? [])
    .filter((person, index, all) => !without.has(person.id) && all.findIndex((other) => other.id === person.id) === index)
    .map((person) => ({ id: person.id, name: person.name, ...(person.email ? { note: person.email } : {}) }));
  const none = answers.some((answer) => answer.isPending) ? t("courses.looking") : answers.some((answer) => answer.isError) ? t("problem.OFFLINE") : t("courses.nobodyFound");
  return (
    <Search
      label={label}
      input={typed}
      onInput={setTyped}
      found={found}
      none={none}
      onPick={(id) => {
        const person = found.find((one) => one.id === id);
        setTyped("");
        if (person) onPick(person);
      }}
    />
  );
}
