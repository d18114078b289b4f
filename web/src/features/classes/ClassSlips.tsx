import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { CheckboxList } from "../../forms/CheckboxList";
import { PasswordHandout } from "../users/PasswordHandout";
import type { PasswordSheet } from "../users/passwordSheets";
import type { ClassStudent } from "./classes";

/** Creates new passwords for students of a class and prints their slips. */
export function ClassSlips({ students, onClose }: { students: readonly ClassStudent[]; onClose: () => void }) {
  const { t } = useTranslation();
  const [sheets, setSheets] = useState<PasswordSheet[]>([]);
  // Without an email address there is no link for a new password, so these students need the slips.
  const [chosen, setChosen] = useState<string[]>(() =>
    students.filter(({ user }) => user.email === null).map(({ user }) => user.id),
  );
  const users = students.map(({ user }) => user).filter((user) => chosen.includes(user.id));
  return (
    <Dialog title={t("classes.slipsTitle")} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          <p>{t(sheets.length === 0 ? "classes.slipsText" : "people.handout.made")}</p>
          {sheets.length === 0 ? (
            <CheckboxList
              label={t("classes.slipsFor")}
              layout="scroll"
              allLabel={t("people.bulk.all", { count: students.length })}
              options={students.map(({ user }) => ({ id: user.id, name: user.name }))}
              value={chosen}
              onChange={setChosen}
            />
          ) : null}
          <PasswordHandout users={users} sheets={sheets} onSheets={setSheets} of={() => undefined} />
          <p className="flex justify-end">
            <Button onPress={close}>{t("app.close")}</Button>
          </p>
        </>
      )}
    </Dialog>
  );
}
