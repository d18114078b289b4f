import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Download, Printer } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, data, Problem } from "../api/client";
import { useSay } from "../lib/problems";
import type { Whole } from "../people/people";
import { printSlips } from "../people/slips";
import { Button } from "../ui/Button";
import { Problems } from "../ui/Problems";
import { Progress } from "../ui/Progress";
import { Sheet } from "../ui/Sheet";
import { readLine } from "./columns";
import { all, withoutPassword } from "./everybody";
import { download } from "./table";
import type { Change, Report, Wizard } from "./wizard";

/** How long to wait when the service has had enough for a minute. */
const REST = 10_000;

/** First passwords for those who are new: made when wanted, told once, as a table or on slips of paper. */
export function Passwords({ wizard, report, change }: { wizard: Wizard; report: Report; change: Change }) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  const known = useQuery({ ...all, enabled: report.created > 0 });
  const [problem, setProblem] = useState<unknown>(null);
  const [isMaking, setMaking] = useState(false);
  const stop = useRef(false);
  if (report.created === 0) return null;
  if (known.isError) return <Problems problem={known.error} again={() => void known.refetch()} />;
  if (!known.data) return null;
  const told = new Set(wizard.slips.map((slip) => slip.email));
  const people = withoutPassword(wizard, report, known.data);
  const open = people.filter((user) => !told.has(user.email));
  if (people.length === 0) return null;
  const make = async () => {
    stop.current = false;
    setMaking(true);
    setProblem(null);
    let slips = wizard.slips;
    try {
      for (const user of open) {
        if (stop.current) break;
        const password = await patiently(user);
        slips = [...slips, { name: user.name, email: user.email, password, of: homeroomOf(wizard, user) }];
        change({ slips });
      }
    } catch (refused) {
      setProblem(refused);
    }
    setMaking(false);
    void cache.invalidateQueries({ queryKey: ["users", "list"] });
  };
  const inOrder = () => wizard.slips.toSorted((one, other) => (one.of ?? "").localeCompare(other.of ?? "", undefined, { numeric: true }) || one.name.localeCompare(other.name));
  return (
    <Sheet className="flex flex-col gap-3">
      <h2>{t(open.length === 0 ? "import.passwordsReady" : "import.passwords", { count: open.length || people.length })}</h2>
      <p>{t(open.length === 0 ? "import.passwordsMade" : "import.passwordsText")}</p>
      {isMaking ? <Progress label={t("import.passwordsMaking")} share={wizard.slips.length / people.length} /> : null}
      {problem === null ? null : (
        <p role="alert" className="text-bad">
          {say(problem)}
        </p>
      )}
      <p className="flex flex-wrap gap-2">
        {open.length > 0 && !isMaking ? (
          <Button kind="main" onPress={() => void make()}>
            {t("import.passwordsGo", { count: open.length })}
          </Button>
        ) : null}
        {isMaking ? <Button onPress={() => (stop.current = true)}>{t("import.stop")}</Button> : null}
        {wizard.slips.length > 0 && !isMaking ? (
          <>
            <Button onPress={() => download("passwords.csv", [[t("import.fields.homeroom"), t("people.name"), t("people.email"), t("people.password")], ...inOrder().map((slip) => [slip.of ?? "", slip.name, slip.email, slip.password])])}>
              <Download aria-hidden="true" className="size-4" />
              {t("import.passwordsFile")}
            </Button>
            <Button onPress={() => printSlips(inOrder())}>
              <Printer aria-hidden="true" className="size-4" />
              {t("import.passwordsPrint")}
            </Button>
          </>
        ) : null}
      </p>
    </Sheet>
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

function homeroomOf(wizard: Wizard, user: Whole): string | undefined {
  const row = wizard.rows?.slice(1).find((cells) => readLine(cells, wizard).email.toLowerCase() === user.email);
  return row ? readLine(row, wizard).homeroom || undefined : undefined;
}
