import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Hand } from "lucide-react";
import { useState } from "react";
import { Dialog, DialogTrigger, Heading, Popover } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client } from "../api/client";
import { minutes, useNow } from "../lib/clock";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { Problems } from "../ui/Problems";
import { group } from "./room";

/** The student's button: asks, shows that the teacher knows and for how long, takes the call back. Never a place in a queue. */
export function Help({ groupId }: { groupId: string }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const found = useQuery(group(groupId));
  const at = useNow();
  const [words, setWords] = useState("");
  const path = { id: groupId };
  const settle = () => cache.invalidateQueries({ queryKey: ["groups"] });
  const ask = useMutation({
    mutationFn: (message: string) => client.POST("/groups/{id}/help", { params: { path }, body: message === "" ? {} : { message } }),
    onSettled: settle,
  });
  const withdraw = useMutation({ mutationFn: () => client.POST("/groups/{id}/help/resolve", { params: { path }, body: {} }), onSettled: settle });
  const problem = ask.error ?? withdraw.error;
  if (found.data?.needsHelp) {
    const since = found.data.helpRequestedAt ? minutes(at - Date.parse(found.data.helpRequestedAt)) : "";
    return (
      <span className="flex flex-wrap items-center gap-2">
        <output>{t("help.known", { since })}</output>
        <Button onPress={() => withdraw.mutate()} isPending={withdraw.isPending}>
          {t("help.withdraw")}
        </Button>
        {problem ? <Problems problem={problem} /> : null}
      </span>
    );
  }
  return (
    <DialogTrigger>
      <Button isPending={ask.isPending}>
        <Hand aria-hidden="true" className="size-5" /> {t("help.ask")}
      </Button>
      <Popover className="bg-sheet border-line w-80 max-w-[90vw] rounded-xl border p-4 shadow-xl">
        <Dialog className="flex flex-col gap-3 outline-none">
          {({ close }) => (
            <form
              className="flex flex-col gap-3"
              onSubmit={(event) => {
                event.preventDefault();
                ask.mutate(words.trim());
                setWords("");
                close();
              }}
            >
              <Heading slot="title" className="font-semibold">
                {t("help.title")}
              </Heading>
              <Field label={t("help.about")} value={words} onChange={setWords} maxLength={500} />
              <Button kind="main" type="submit">
                {t("help.call")}
              </Button>
            </form>
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
