import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { isFullUser, type KnownUser } from "../users/users";
import { Button } from "../../components/Button";
import { Disclosure } from "../../components/Disclosure";
import { CheckboxList } from "../../forms/CheckboxList";
import { toast } from "../../components/base/toast";
import { Card } from "../../components/Card";
import { allUsersQuery, usersNotInFile } from "./users";
import type { Report, Wizard } from "./wizard";

/** Users of the school missing from the file; they stay unchanged unless the administrator deactivates them. */
export function MissingUsers({ wizard, report }: { wizard: Wizard; report: Report }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const { data: known } = useQuery(allUsersQuery);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const allow = useMutation({
    mutationFn: async ({ users, isActive }: { users: KnownUser[]; isActive: boolean }) => {
      for (const user of users)
        await unwrap(client.PATCH("/users/{id}", { params: { path: { id: user.id } }, body: { isActive } }));
    },
    onSuccess: (_, { users, isActive }) => {
      setChosen([]);
      if (isActive) toast(t("import.onAgain", { count: users.length }));
      else toast(t("import.offNow", { count: users.length }), () => allow.mutate({ users, isActive: true }));
    },
    onError: (problem) => void toast(errorText(problem)),
    onSettled: () => invalidate(cache, "users"),
  });
  const people = known ? usersNotInFile(wizard, report, known) : [];
  if (people.length === 0) return null;
  // An account shared with another school cannot be deactivated here.
  const own = people.filter(isFullUser);
  const picked = own.filter((user) => chosen.includes(user.id));
  return (
    <Card className="flex flex-col gap-3">
      <h2>{t("import.missing", { count: people.length })}</h2>
      <p>{t("import.missingText")}</p>
      <Disclosure name={t("import.missingShow")}>
        <CheckboxList
          label={t("import.missing", { count: people.length })}
          isBare
          layout="scroll"
          allLabel={t("app.all")}
          options={people.map((user) => ({
            id: user.id,
            isDisabled: !isFullUser(user),
            name: (
              <>
                {user.name}{" "}
                <span className="text-soft text-sm">{isFullUser(user) ? user.email : t("people.shared")}</span>
              </>
            ),
          }))}
          value={chosen}
          onChange={setChosen}
        />
      </Disclosure>
      {picked.length > 0 || allow.isPending ? (
        <p>
          <Button
            kind="danger"
            isPending={allow.isPending}
            onPress={() => allow.mutate({ users: picked, isActive: false })}
          >
            {t("import.switchOff", { count: picked.length })}
          </Button>
        </p>
      ) : null}
    </Card>
  );
}
