import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { FormBody } from "../../forms/FormDialog";
import { useForm } from "../../forms/useForm";
import { client, unwrap } from "../../api/client";
import type { Me } from "../../auth/session";
import { isLanguage, LANGUAGES } from "../../i18n";
import { Button } from "../../components/Button";
import { Select, type Option } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { type MenuAction, OverflowMenu } from "../../components/base/OverflowMenu";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { Time } from "../../components/base/Time";
import { Dialog } from "../../components/Dialog";
import { RoleBadge, UserState } from "./UserBadges";
import { userGroupsQuery, isFullUser, canChangeUser, userQuery, roleOf, type KnownUser, type FullUser } from "./users";

/** One user: facts, editable fields, groups, and links to related pages. */
export function UserDialog({
  id,
  caller,
  menu,
  onClose,
}: {
  id: string;
  caller: Me;
  menu: (user: KnownUser) => MenuAction[];
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const found = useQuery(userQuery(id));
  return (
    <Dialog title={found.data?.name ?? t("people.person")} isWide isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          {found.isPending ? <ListSkeleton count={4} /> : null}
          {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
          {found.data ? <UserSections user={found.data} caller={caller} /> : null}
          <p className="flex flex-wrap justify-end gap-2">
            {found.data && menu(found.data).length > 0 ? (
              <OverflowMenu label={found.data.name} actions={menu(found.data)}>
                {t("people.deeds")}
              </OverflowMenu>
            ) : null}
            <Button onPress={close}>{t("app.close")}</Button>
          </p>
        </>
      )}
    </Dialog>
  );
}

function UserSections({ user, caller }: { user: KnownUser; caller: Me }) {
  const { t } = useTranslation();
  const isEditable = canChangeUser(caller, user);
  const isSelf = user.id === caller.id;
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <RoleBadge user={user} />
        <UserState user={user} />
        <span className="text-soft text-sm">
          {isFullUser(user) && user.lastLoginAt !== null ? (
            <>
              {t("people.seen")}: <Time at={user.lastLoginAt} />
            </>
          ) : null}
        </span>
      </p>
      {isFullUser(user) && user.isActive && user.hasCredential === false ? <p>{t("people.noCredentialText")}</p> : null}
      {isSelf ? (
        <div>
          <p>{t("people.self")}</p>
          <Link to="/me" className="inline-flex min-h-11 items-center">
            {t("people.toMe")}
          </Link>
        </div>
      ) : null}
      {isEditable && isFullUser(user) ? <EditUser key={user.updatedAt} user={user} /> : <UserFacts user={user} />}
      {!isSelf && !isEditable ? <p className="text-soft">{t("people.above")}</p> : null}
      {isEditable && !isFullUser(user) ? <p className="text-soft">{t("people.sharedText")}</p> : null}
      {roleOf(user) === "student" ? <UserGroups id={user.id} /> : null}
      <p className="flex flex-wrap gap-x-4 gap-y-2">
        <Link to="/admin/sessions" search={{ userId: user.id }} className="inline-flex min-h-11 items-center">
          {t("people.sessions")}
        </Link>
        <Link to="/admin/privacy" search={{ userId: user.id }} className="inline-flex min-h-11 items-center">
          {t("people.privacy")}
        </Link>
      </p>
    </>
  );
}

function UserFacts({ user }: { user: KnownUser }) {
  const { t } = useTranslation();
  const facts = [
    [t("people.email"), user.email],
    [t("people.externalId"), user.member?.externalId],
    [t("people.username"), user.username],
  ].filter(([, text]) => text);
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
      {facts.map(([name, text]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="[overflow-wrap:anywhere]">{text}</dd>
        </div>
      ))}
    </dl>
  );
}

const TEXT_FIELDS = ["name", "email", "firstName", "lastName", "username", "externalId"] as const;

/** Administrators and owners need an email address. */
const isAdministrator = (user: KnownUser): boolean => ["owner", "admin"].includes(roleOf(user));

function EditUser({ user }: { user: FullUser }) {
  const { t } = useTranslation();
  const { name, email, firstName, lastName, username, externalId, locale } = user;
  const before = {
    name,
    email: email ?? "",
    firstName: firstName ?? "",
    lastName: lastName ?? "",
    username: username ?? "",
    externalId: externalId ?? "",
  };
  const languages: Option[] = Object.entries(LANGUAGES).map(([id, label]) => ({ id, name: label }));
  if (!isLanguage(locale)) languages.push({ id: locale, name: locale });
  const changedFields = (values: typeof before) => TEXT_FIELDS.filter((part) => values[part].trim() !== before[part]);
  const form = useForm({
    initial: { ...before, locale },
    send: (values) => {
      const texts = changedFields(values).map((part) => [
        part,
        values[part].trim() === "" && part !== "name" ? null : values[part].trim(),
      ]);
      return unwrap(
        client.PATCH("/users/{id}", {
          params: { path: { id: user.id } },
          body: { ...Object.fromEntries(texts), ...(values.locale === locale ? {} : { locale: values.locale }) },
        }),
      );
    },
    refreshes: ["users"],
    onSent: () => toast(t("app.saved")),
  });
  const isChanged = changedFields(form.values).length > 0 || form.values.locale !== locale;
  return (
    <FormBody form={form} submitLabel={isChanged ? t("app.save") : undefined} className="gap-3">
      <div className="grid gap-3 sm:grid-cols-2">
        {TEXT_FIELDS.map((part) => (
          <TextField
            key={part}
            label={t(part === "name" ? "people.shownName" : `people.${part}`)}
            isRequired={part === "name" || (part === "email" && (form.values.username === "" || isAdministrator(user)))}
            type={part === "email" ? "email" : "text"}
            {...form.field(part)}
          />
        ))}
        <Select label={t("people.locale")} options={languages} {...form.field("locale")} />
      </div>
    </FormBody>
  );
}

function UserGroups({ id }: { id: string }) {
  const { t } = useTranslation();
  const found = useQuery(userGroupsQuery(id));
  return (
    <section aria-label={t("people.groups")}>
      <h3 className="font-semibold">{t("people.groups")}</h3>
      {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
      {found.data?.length === 0 ? <p className="text-soft">{t("people.noGroups")}</p> : null}
      <ul>
        {found.data?.map((group) => (
          <li key={group.id}>
            <Link to="/groups/$groupId" params={{ groupId: group.id }} className="inline-flex min-h-11 items-center">
              {["class" in group ? group.class.name : "", group.displayName ?? group.name].filter(Boolean).join(" › ")}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
