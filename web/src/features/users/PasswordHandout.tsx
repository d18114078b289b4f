import { useQueryClient } from "@tanstack/react-query";
import { Download, Printer } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap, Problem } from "../../api/client";
import { downloadTable } from "../import/csv";
import { compareNumbered, comparePeople } from "../../i18n/names";
import { useErrorText } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { ProgressBar } from "../../components/ProgressBar";
import { printSheets, sheetOf, type PasswordSheet } from "./passwordSheets";

/** Pause after the rate limit of one minute is exceeded. */
const RATE_LIMIT_PAUSE_MS = 10_000;

/** A user who gets a first password. */
interface Recipient {
  id: string;
  name: string;
  email?: string | null;
}

interface Props<R extends Recipient> {
  users: readonly R[];
  /** Sheets created so far; kept by the parent. */
  sheets: readonly PasswordSheet[];
  onSheets: (slips: PasswordSheet[]) => void;
  /** Label on a sheet that identifies its user, such as the homeroom. */
  of: (user: R) => string | undefined;
}

/** Creates first passwords for many users, one request at a time; shows them once, as a table or as printed sheets. */
export function PasswordHandout<R extends Recipient>({ users, sheets, onSheets, of }: Props<R>) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const [problem, setProblem] = useState<unknown>(null);
  const [isMaking, setMaking] = useState(false);
  const stop = useRef(false);
  const created = new Set(sheets.map((slip) => slip.id));
  const open = users.filter((user) => !created.has(user.id));
  const createAll = async () => {
    stop.current = false;
    setMaking(true);
    setProblem(null);
    let made = [...sheets];
    try {
      for (const user of open) {
        if (stop.current) break;
        made = [...made, { ...(await createPassword(user)), of: of(user) }];
        onSheets(made);
      }
    } catch (refused) {
      setProblem(refused);
    }
    setMaking(false);
    void cache.invalidateQueries({ queryKey: queryKeys.users.list() });
  };
  const inOrder = sheets.toSorted(
    (one, other) => compareNumbered(one.of ?? "", other.of ?? "") || comparePeople(one.name, other.name),
  );
  const save = () => {
    const header = [t("people.homeroom"), t("people.name"), t("signIn.name"), t("people.password")];
    downloadTable("passwords.csv", [
      header,
      ...inOrder.map((slip) => [slip.of ?? "", slip.name, slip.signInName, slip.password]),
    ]);
  };
  return (
    <>
      {isMaking ? (
        <ProgressBar label={t("people.handout.making")} share={sheets.length / (sheets.length + open.length)} />
      ) : null}
      {problem === null ? null : (
        <p role="alert" className="text-bad">
          {errorText(problem)}
        </p>
      )}
      <p className="flex flex-wrap gap-2">
        {open.length > 0 && !isMaking ? (
          <Button kind="main" onPress={() => void createAll()}>
            {t("people.handout.go", { count: open.length })}
          </Button>
        ) : null}
        {isMaking ? <Button onPress={() => (stop.current = true)}>{t("people.handout.stop")}</Button> : null}
        {sheets.length > 0 && !isMaking ? (
          <>
            <Button onPress={save}>
              <Download aria-hidden="true" className="size-4" />
              {t("people.handout.file")}
            </Button>
            <Button onPress={() => void printSheets(inOrder)}>
              <Printer aria-hidden="true" className="size-4" />
              {t("people.handout.print")}
            </Button>
          </>
        ) : null}
      </p>
    </>
  );
}

/** Creates a first password; retries after a pause when rate-limited. */
async function createPassword({ id, name, email }: Recipient): Promise<PasswordSheet> {
  for (;;) {
    try {
      const reset = await unwrap(client.POST("/users/{id}/reset-password", { params: { path: { id } } }));
      return sheetOf({ id, name, email }, reset);
    } catch (problem) {
      if (!(problem instanceof Problem) || (problem.status !== 429 && problem.status !== 503)) throw problem;
      await new Promise((resolve) => setTimeout(resolve, RATE_LIMIT_PAUSE_MS));
    }
  }
}
