import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap, type Schemas } from "../../api/client";
import { homeroomLabel, homeroomsQuery } from "../homerooms/homerooms";
import { isFieldError, useFieldErrors, useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { type Me, effectiveRole } from "../../auth/session";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { RadioGroup } from "../../forms/RadioGroup";
import { Dialog } from "../../components/Dialog";
import { activeClassesQuery, rolesBelow } from "./users";
import { FirstPassword } from "./FirstPassword";

type New = Schemas["NewUser"];
type NewRole = "ADMIN" | "TEACHER" | "STUDENT";
type AccountKind = "made" | "mail" | "own";
/** Fields that show their own errors. */
const PATHS = ["firstName", "lastName", "email", "homeroomId", "password", "name", "username", "externalId"];
const NOTHING = {
  firstName: "",
  lastName: "",
  name: "",
  email: "",
  username: "",
  externalId: "",
  password: "",
  homeroomId: "",
  classIds: [] as string[],
};

/** Adds one user to the school and shows the password once. */
export function AddUserDialog({ caller, onClose }: { caller: Me; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const add = useMutation({
    mutationFn: (body: New) => unwrap(client.POST("/users", { body })),
    onSuccess: () => invalidate(cache, "users", "admin", "homerooms"),
  });
  return (
    <Dialog
      title={add.data ? t("people.added") : t("people.addTitle")}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {() =>
        add.data ? (
          <UserAdded added={add.data} onMore={add.reset} onClose={onClose} />
        ) : (
          <AddUserForm
            caller={caller}
            problem={add.error}
            isPending={add.isPending}
            onSend={add.mutate}
            onClose={onClose}
          />
        )
      }
    </Dialog>
  );
}

function UserAdded({
  added,
  onMore,
  onClose,
}: {
  added: Schemas["NewMember"];
  onMore: () => void;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const name = "name" in added ? added.name : added.email;
  const password = "temporaryPassword" in added ? added.temporaryPassword : undefined;
  return (
    <>
      {password ? (
        <FirstPassword sheet={{ name, email: added.email, password }} />
      ) : (
        <p>
          {t(
            added.result === "INVITED"
              ? "people.joinedInvited"
              : added.result === "CREATED"
                ? "people.joinedNew"
                : "people.joinedKnown",
            { name },
          )}
        </p>
      )}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={onMore}>{t("people.addAnother")}</Button>
        <Button kind="main" onPress={onClose}>
          {t("app.close")}
        </Button>
      </p>
    </>
  );
}

interface AddUserFormProps {
  caller: Me;
  problem: unknown;
  isPending: boolean;
  onSend: (body: New) => void;
  onClose: () => void;
}

function AddUserForm({ caller, problem, isPending, onSend, onClose }: AddUserFormProps) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const rooms = useQuery(homeroomsQuery);
  const [role, setRole] = useState<NewRole>("STUDENT");
  const [accountKind, setAccountKind] = useState<AccountKind>("made");
  const [values, setValues] = useState(NOTHING);
  const set = (part: Partial<typeof NOTHING>) => setValues({ ...values, ...part });
  const full = [values.firstName, values.lastName]
    .map((part) => part.trim())
    .filter(Boolean)
    .join(" ");
  const roles = (["STUDENT", "TEACHER", "ADMIN"] as const).filter((id) =>
    rolesBelow(effectiveRole(caller)).includes(id.toLowerCase() as "student"),
  );
  const of = useFieldErrors(problem);
  const send = () => {
    const { password, homeroomId, classIds, ...texts } = values;
    const filled = Object.fromEntries(Object.entries(texts).filter(([, text]) => text.trim() !== ""));
    onSend({
      ...filled,
      name: values.name.trim() || full,
      email: values.email.trim(),
      role,
      ...(accountKind === "mail" ? { sendInvite: true } : accountKind === "own" ? { password } : {}),
      ...(role === "STUDENT"
        ? { ...(homeroomId === "" ? {} : { homeroomId }), ...(classIds.length === 0 ? {} : { classIds }) }
        : {}),
    });
  };
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <RadioGroup
        label={t("people.roleIs")}
        options={roles.map((id) => ({ id, name: t(`people.one.${id}`) }))}
        value={role}
        onChange={setRole}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label={t("people.firstName")}
          value={values.firstName}
          onChange={(firstName) => set({ firstName })}
          maxLength={80}
          {...of("firstName")}
        />
        <TextField
          label={t("people.lastName")}
          value={values.lastName}
          onChange={(lastName) => set({ lastName })}
          isRequired={full === "" && values.name === ""}
          maxLength={80}
          {...of("lastName")}
        />
      </div>
      <TextField
        label={t("people.email")}
        type="email"
        value={values.email}
        onChange={(email) => set({ email })}
        isRequired
        maxLength={254}
        {...of("email")}
      />
      {role === "STUDENT" && rooms.data && rooms.data.length > 0 ? (
        <Select
          label={t("people.homeroom")}
          options={[
            { id: "none", name: t("people.noHomeroom") },
            ...rooms.data.map((room) => ({ id: room.id, name: homeroomLabel(room) })),
          ]}
          value={values.homeroomId || "none"}
          onChange={(id) => set({ homeroomId: id === "none" ? "" : id })}
          {...of("homeroomId")}
        />
      ) : null}
      <RadioGroup
        label={t("people.way")}
        options={(["made", "mail", "own"] as const).map((id) => ({ id, name: t(`people.ways.${id}`) }))}
        value={accountKind}
        onChange={setAccountKind}
      />
      {accountKind === "own" ? (
        <TextField
          label={t("people.password")}
          hint={t("people.passwordHint")}
          value={values.password}
          onChange={(password) => set({ password })}
          isRequired
          minLength={8}
          autoComplete="off"
          {...of("password")}
        />
      ) : null}
      <details>
        <summary className="min-h-11 cursor-pointer py-2 font-medium">{t("people.furthermore")}</summary>
        <div className="flex flex-col gap-3">
          <TextField
            label={t("people.shownName")}
            hint={t("people.shownNameHint", { name: full })}
            value={values.name}
            onChange={(name) => set({ name })}
            maxLength={120}
            {...of("name")}
          />
          <TextField
            label={t("people.username")}
            value={values.username}
            onChange={(username) => set({ username })}
            maxLength={60}
            {...of("username")}
          />
          <TextField
            label={t("people.externalId")}
            hint={t("people.externalIdHint")}
            value={values.externalId}
            onChange={(externalId) => set({ externalId })}
            maxLength={120}
            {...of("externalId")}
          />
          {role === "STUDENT" ? (
            <ClassSelect chosen={values.classIds} onChange={(classIds) => set({ classIds })} />
          ) : null}
        </div>
      </details>
      {problem === null ? null : (
        <p role="alert" className="text-bad">
          {isFieldError(problem, PATHS) ? t("people.lookAgain") : errorText(problem)}
        </p>
      )}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={onClose}>{t("ask.cancel")}</Button>
        <Button kind="main" type="submit" isPending={isPending}>
          {t("people.addGo")}
        </Button>
      </p>
    </Form>
  );
}

/** Initial classes of a new student. */
function ClassSelect({ chosen, onChange }: { chosen: string[]; onChange: (ids: string[]) => void }) {
  const { t } = useTranslation();
  const { data: known = [] } = useQuery(activeClassesQuery);
  if (known.length === 0) return null;
  return (
    <fieldset>
      <legend className="font-medium">{t("people.classes")}</legend>
      <div className="border-faint max-h-48 overflow-y-auto rounded-lg border px-3">
        {known.map((one) => (
          <Checkbox
            key={one.id}
            isSelected={chosen.includes(one.id)}
            onChange={(isIn) => onChange(isIn ? [...chosen, one.id] : chosen.filter((id) => id !== one.id))}
          >
            {one.name} <span className="text-soft text-sm">{one.academicYear}</span>
          </Checkbox>
        ))}
      </div>
    </fieldset>
  );
}
