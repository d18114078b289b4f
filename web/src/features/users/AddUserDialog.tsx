import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { FormBody } from "../../forms/FormDialog";
import { type FormState, useForm } from "../../forms/useForm";
import { client, unwrap, type Schemas } from "../../api/client";
import { useSendsEmail } from "../../api/useSendsEmail";
import { homeroomLabel, homeroomsQuery } from "../homerooms/homerooms";
import { type Me, effectiveRole } from "../../auth/session";
import { Button } from "../../components/Button";
import { Disclosure } from "../../components/Disclosure";
import { CheckboxList } from "../../forms/CheckboxList";
import { OptionalSelect } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { RadioGroup } from "../../forms/RadioGroup";
import { Dialog } from "../../components/Dialog";
import { activeClassesQuery, rolesBelow } from "./users";
import { FirstPassword } from "./FirstPassword";
import { sheetOf } from "./passwordSheets";

const INITIAL = {
  role: "STUDENT" as "ADMIN" | "TEACHER" | "STUDENT",
  /** How the account gets its password: generated, by an invitation, or typed here. */
  access: "made" as "made" | "mail" | "own",
  firstName: "",
  lastName: "",
  name: "",
  email: "",
  username: "",
  externalId: "",
  password: "",
  homeroomId: null as string | null,
  classIds: [] as string[],
};
type UserValues = typeof INITIAL;

/** Adds one user to the school and shows the password once. */
export function AddUserDialog({ caller, onClose }: { caller: Me; onClose: () => void }) {
  const { t } = useTranslation();
  const [added, setAdded] = useState<Schemas["NewMember"]>();
  return (
    <Dialog
      title={added ? t("people.added") : t("people.addTitle")}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {() =>
        added ? (
          <UserAdded added={added} caller={caller} onMore={() => setAdded(undefined)} onClose={onClose} />
        ) : (
          <AddUserForm caller={caller} onAdded={setAdded} onClose={onClose} />
        )
      }
    </Dialog>
  );
}

interface UserAddedProps {
  added: Schemas["NewMember"];
  caller: Me;
  onMore: () => void;
  onClose: () => void;
}

/** The sheet of a new account with a generated password. */
function sheetOfNew(added: Schemas["NewMember"], caller: Me) {
  if (added.result !== "CREATED" || typeof added.temporaryPassword !== "string") return null;
  const { username, temporaryPassword, slipToken } = added;
  const slug = caller.organization?.slug;
  const full = username === null || slug === undefined ? username : `${username}@${slug}`;
  return sheetOf(added, {
    temporaryPassword,
    ...(typeof slipToken === "string" ? { slipToken } : {}),
    username: added.email === null ? full : null,
  });
}

function UserAdded({ added, caller, onMore, onClose }: UserAddedProps) {
  const { t } = useTranslation();
  const sendsEmail = useSendsEmail();
  const name = "name" in added ? added.name : added.email;
  const sheet = sheetOfNew(added, caller);
  return (
    <>
      {sheet ? (
        <FirstPassword sheet={sheet} />
      ) : (
        <p>
          {t(
            added.result === "INVITED"
              ? sendsEmail
                ? "people.joinedInvited"
                : "people.joinedInvitedNoMail"
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

const fullName = ({ firstName, lastName }: UserValues): string => `${firstName.trim()} ${lastName.trim()}`.trim();

function requestBody(values: UserValues): Schemas["NewUser"] {
  const { role, access, password, homeroomId, classIds, ...texts } = values;
  const filled = Object.fromEntries(Object.entries(texts).filter(([, text]) => text.trim() !== ""));
  return {
    ...filled,
    name: values.name.trim() || fullName(values),
    ...(values.email.trim() === "" ? {} : { email: values.email.trim() }),
    role,
    ...(access === "mail" ? { sendInvite: true } : access === "own" ? { password } : {}),
    ...(role === "STUDENT"
      ? { ...(homeroomId === null ? {} : { homeroomId }), ...(classIds.length === 0 ? {} : { classIds }) }
      : {}),
  };
}

interface AddUserFormProps {
  caller: Me;
  onAdded: (added: Schemas["NewMember"]) => void;
  onClose: () => void;
}

function AddUserForm({ caller, onAdded, onClose }: AddUserFormProps) {
  const { t } = useTranslation();
  const rooms = useQuery(homeroomsQuery);
  const sendsEmail = useSendsEmail();
  const form = useForm({
    initial: INITIAL,
    send: (values) => unwrap(client.POST("/users", { body: requestBody(values) })),
    refreshes: ["users", "admin", "homerooms"],
    onSent: onAdded,
  });
  const { values } = form;
  const roles = (["STUDENT", "TEACHER", "ADMIN"] as const).filter((id) =>
    rolesBelow(effectiveRole(caller)).includes(id.toLowerCase() as "student"),
  );
  return (
    <FormBody form={form} submitLabel={t("people.addGo")} fieldErrorText={t("people.lookAgain")} close={onClose}>
      <RadioGroup
        label={t("people.roleIs")}
        options={roles.map((id) => ({ id, name: t(`people.one.${id}`) }))}
        {...form.field("role")}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField label={t("people.firstName")} maxLength={80} {...form.field("firstName")} />
        <TextField
          label={t("people.lastName")}
          isRequired={fullName(values) === "" && values.name === ""}
          maxLength={80}
          {...form.field("lastName")}
        />
      </div>
      <TextField
        label={t("people.email")}
        hint={values.role === "ADMIN" ? undefined : t("people.emailHint")}
        type="email"
        isRequired={values.role === "ADMIN" || values.access === "mail"}
        maxLength={254}
        {...form.field("email")}
      />
      {values.role === "STUDENT" && rooms.data && rooms.data.length > 0 ? (
        <OptionalSelect
          label={t("people.homeroom")}
          none={t("people.noHomeroom")}
          options={rooms.data.map((room) => ({ id: room.id, name: homeroomLabel(room) }))}
          {...form.field("homeroomId")}
        />
      ) : null}
      <RadioGroup
        label={t("people.way")}
        options={(["made", ...(sendsEmail ? (["mail"] as const) : []), "own"] as const).map((id) => ({
          id,
          name: t(`people.ways.${id}`),
        }))}
        {...form.field("access")}
      />
      {values.access === "own" ? (
        <TextField
          label={t("people.password")}
          hint={t("people.passwordHint")}
          isRequired
          minLength={8}
          {...form.field("password")}
        />
      ) : null}
      <MoreUserFields form={form} />
    </FormBody>
  );
}

function MoreUserFields({ form }: { form: FormState<UserValues, Schemas["NewMember"]> }) {
  const { t } = useTranslation();
  return (
    <Disclosure name={t("people.furthermore")}>
      <TextField
        label={t("people.shownName")}
        hint={t("people.shownNameHint", { name: fullName(form.values) })}
        maxLength={120}
        {...form.field("name")}
      />
      <TextField
        label={t("people.username")}
        hint={t("people.usernameHint")}
        maxLength={60}
        isSignInName
        {...form.field("username")}
      />
      <TextField
        label={t("people.externalId")}
        hint={t("people.externalIdHint")}
        maxLength={120}
        {...form.field("externalId")}
      />
      {form.values.role === "STUDENT" ? <ClassList {...form.field("classIds")} /> : null}
    </Disclosure>
  );
}

/** Initial classes of a new student. */
function ClassList(field: { value: string[]; onChange: (ids: string[]) => void }) {
  const { t } = useTranslation();
  const { data: known = [] } = useQuery(activeClassesQuery);
  if (known.length === 0) return null;
  const options = known.map(({ id, name, academicYear }) => ({ id, name: `${name} · ${academicYear}` }));
  return <CheckboxList label={t("people.classes")} layout="scroll" options={options} {...field} />;
}
