import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { FormBody } from "../../forms/FormDialog";
import { mutationForm } from "../../forms/useForm";
import { classStudentsQuery } from "../classes/classes";
import type { ListedGroup } from "./groups";
import { CheckboxList } from "../../forms/CheckboxList";
import { TextField } from "../../forms/TextField";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Dialog } from "../../components/Dialog";
import { useMembers, withGroups } from "./useMembers";
import { numberedName } from "../lesson/groupNames";

/** Selects students of the class for a group; students without a group come first. */
export function AddMembersDialog({
  group,
  groups,
  onClose,
}: {
  group: ListedGroup;
  groups: readonly ListedGroup[];
  onClose: () => void;
}) {
  const { t } = useTranslation();
  return (
    <Dialog
      title={t("courses.addTo", { group: numberedName(group) })}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => <AddMembersForm group={group} groups={groups} close={close} />}
    </Dialog>
  );
}

function AddMembersForm({
  group,
  groups,
  close,
}: {
  group: ListedGroup;
  groups: readonly ListedGroup[];
  close: () => void;
}) {
  const { t } = useTranslation();
  const found = useQuery(classStudentsQuery(group.classId));
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { add } = useMembers();
  if (found.isPending) return <Skeleton count={1} />;
  if (!found.data) return <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />;
  const others = withGroups(found.data, groups).filter((one) => one.group?.id !== group.id);
  const shown = others.filter((one) =>
    one.student.user.name.toLocaleLowerCase().includes(typed.trim().toLocaleLowerCase()),
  );
  return (
    <FormBody
      form={{
        ...mutationForm(add),
        submit: () => {
          const people = others.map((one) => one.student.user).filter((person) => chosen.includes(person.id));
          if (people.length > 0) add.mutate({ group, people }, { onSuccess: close });
        },
        // The hook reports it in a toast.
        unshownProblem: () => null,
      }}
      submitLabel={t("courses.addCount", { count: chosen.length })}
      isIncomplete={chosen.length === 0}
      close={close}
    >
      <TextField label={t("courses.findStudent")} value={typed} onChange={setTyped} />
      {shown.length === 0 ? <p>{others.length === 0 ? t("courses.allInGroup") : t("courses.nobodyFound")}</p> : null}
      <CheckboxList
        label={t("courses.studentsTab")}
        isBare
        layout="scroll"
        options={shown.map(({ student, group: other }) => ({
          id: student.user.id,
          name: (
            <>
              {student.user.name}{" "}
              <span className="text-soft text-sm">
                {other ? t("courses.inGroup", { group: numberedName(other) }) : t("courses.withoutGroup")}
              </span>
            </>
          ),
        }))}
        value={chosen}
        onChange={setChosen}
      />
    </FormBody>
  );
}
