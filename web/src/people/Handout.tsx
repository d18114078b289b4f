import { useQueryClient } from "@tanstack/react-query";
import { Download, Printer } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, data, Problem } from "../api/client";
import { downloadTable } from "../features/import/csv";
import { compareNumbered, comparePeople } from "../lib/names";
import { useSay } from "../lib/problems";
import { queryKeys } from "../lib/queryKeys";
import { Button } from "../ui/Button";
import { Progress } from "../ui/Progress";
import type { Whole } from "./people";
import { printSlips, type Slip } from "./slips";

/** How long to wait when the service has had enough for a minute. */
const REST = 10_000;

interface Props {
  people: readonly Whole[];
  /** What has been made so far; whoever shows this keeps it. */
  slips: readonly Slip[];
  onSlips: (slips: Slip[]) => void;
  /** What tells on a slip whom it is for. */
  of: (user: Whole) => string | undefined;
}

/** First passwords for many: made one after the other, told once, as a table or on slips of paper. */
export function Handout({ people, slips, onSlips, of }: Props) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  const [problem, setProblem] = useState<unknown>(null);
  const [isMaking, setMaking] = useState(false);
  const stop = useRef(false);
  const told = new Set(slips.map((slip) => slip.email));
  const open = people.filter((user) => !told.has(user.email));
  const make = async () => {
    stop.current = false;
    setMaking(true);
    setProblem(null);
    let made = [...slips];
    try {
      for (const user of open) {
        if (stop.current) break;
        made = [...made, { name: user.name, email: user.email, password: await patiently(user), of: of(user) }];
        onSlips(made);
      }
    } catch (refused) {
      setProblem(refused);
    }
    setMaking(false);
    void cache.invalidateQueries({ queryKey: queryKeys.users.list() });
  };
  const inOrder = slips.toSorted((one, other) => compareNumbered(one.of ?? "", other.of ?? "") || comparePeople(one.name, other.name));
  const save = () => {
    const header = [t("people.homeroom"), t("people.name"), t("people.email"), t("people.password")];
    downloadTable("passwords.csv", [header, ...inOrder.map((slip) => [slip.of ?? "", slip.name, slip.email, slip.password])]);
  };
  return (
    <>
      {isMaking ? <Progress label={t("people.handout.making")} share={slips.length / (slips.length + open.length)} /> : null}
      {problem === null ? null : (
        <p role="alert" className="text-bad">
          {say(problem)}
        </p>
      )}
      <p className="flex flex-wrap gap-2">
        {open.length > 0 && !isMaking ? (
          <Button kind="main" onPress={() => void make()}>
            {t("people.handout.go", { count: open.length })}
          </Button>
        ) : null}
        {isMaking ? <Button onPress={() => (stop.current = true)}>{t("people.handout.stop")}</Button> : null}
        {slips.length > 0 && !isMaking ? (
          <>
            <Button onPress={save}>
              <Download aria-hidden="true" className="size-4" />
              {t("people.handout.file")}
            </Button>
            <Button onPress={() => printSlips(inOrder)}>
              <Printer aria-hidden="true" className="size-4" />
              {t("people.handout.print")}
            </Button>
          </>
        ) : null}
      </p>
    </>
  );
}

/** A first password; asks again later when it was too much at once. */
async function patiently(user: Whole): Promise<string> {
  for (;;) {
    try {
      return (await data(client.POST("/users/{id}/reset-password", { params: { path: { id: user.id } } }))).temporaryPassword;
    } catch (problem) {
      if (!(problem instanceof Problem) || (problem.status !== 429 && problem.status !== 503)) throw problem;
      await new Promise((resolve) => setTimeout(resolve, REST));
    }
  }
}
