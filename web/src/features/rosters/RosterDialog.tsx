import { useTranslation } from "react-i18next";

import { client, unwrap, type Schemas } from "../../api/client";
import { toast } from "../../components/base/toast";
import { Checkbox } from "../../forms/Checkbox";
import { FormDialog } from "../../forms/FormDialog";
import { NumberField } from "../../forms/NumberField";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import type { RosterSource } from "./useRosters";

const PROTOCOLS: Schemas["RosterProtocol"][] = ["ONE_ROSTER_1_1", "ONE_ROSTER_1_2", "SCHULCONNEX"];
const ROLES: Schemas["RosterRoles"][] = ["ALL", "STUDENTS", "TEACHERS"];

/** Adds a roster source, or edits one. */
export function RosterDialog({ source, onClose }: { source: RosterSource | null; onClose: () => void }) {
  const { t } = useTranslation();
  const form = useForm({
    initial: {
      name: source?.name ?? "",
      protocol: source?.protocol ?? ("ONE_ROSTER_1_2" as Schemas["RosterProtocol"]),
      url: source?.url ?? "",
      tokenUrl: source?.tokenUrl ?? "",
      clientId: source?.clientId ?? "",
      clientSecret: "",
      scope: source?.scope ?? "",
      schoolId: source?.schoolId ?? "",
      roles: source?.roles ?? ("ALL" as Schemas["RosterRoles"]),
      endsAbsent: source?.endsAbsent ?? true,
      leavePercent: source?.leavePercent ?? 5,
      isNightly: source?.isNightly ?? true,
      nightlyHour: source?.nightlyHour ?? 3,
    },
    send: ({ clientSecret, ...body }) =>
      source
        ? unwrap(
            client.PATCH("/admin/rosters/{id}", {
              params: { path: { id: source.id } },
              body: { ...body, ...(clientSecret === "" ? {} : { clientSecret }) },
            }),
          )
        : unwrap(client.POST("/admin/rosters", { body: { ...body, clientSecret } })),
    refreshes: ["admin"],
    onSent: ({ name }) => {
      toast(source ? t("app.saved") : t("rosters.added", { name }));
      onClose();
    },
  });
  const { values } = form;
  return (
    <FormDialog
      title={source ? t("rosters.editTitle", { name: source.name }) : t("rosters.addTitle")}
      form={form}
      submitLabel={t("app.save")}
      onClose={onClose}
    >
      <TextField label={t("rosters.name")} isRequired maxLength={120} {...form.field("name")} />
      <Select
        label={t("rosters.protocol")}
        hint={t(`rosters.presets.${values.protocol}`)}
        options={PROTOCOLS.map((id) => ({ id, name: t(`rosters.protocols.${id}`) }))}
        {...form.field("protocol")}
      />
      <TextField label={t("rosters.url")} type="url" isRequired maxLength={500} {...form.field("url")} />
      <TextField label={t("rosters.tokenUrl")} type="url" isRequired maxLength={500} {...form.field("tokenUrl")} />
      <TextField label={t("rosters.clientId")} isRequired maxLength={500} {...form.field("clientId")} />
      <TextField
        label={t("rosters.clientSecret")}
        {...(source ? { hint: t("rosters.secretKept") } : {})}
        isRequired={source === null}
        autoComplete="off"
        maxLength={2000}
        {...form.field("clientSecret")}
      />
      <TextField label={t("rosters.scope")} hint={t("rosters.scopeHint")} maxLength={500} {...form.field("scope")} />
      <TextField
        label={t("rosters.schoolId")}
        hint={t("rosters.schoolIdHint")}
        maxLength={200}
        {...form.field("schoolId")}
      />
      <Select
        label={t("rosters.roles")}
        options={ROLES.map((id) => ({ id, name: t(`rosters.roleChoices.${id}`) }))}
        {...form.field("roles")}
      />
      <Checkbox isSelected={values.endsAbsent} onChange={(endsAbsent) => form.set({ endsAbsent })}>
        {t("rosters.endsAbsent")}
      </Checkbox>
      <NumberField
        label={t("rosters.leavePercent")}
        hint={t("rosters.leavePercentHint")}
        minValue={0}
        maxValue={100}
        {...form.field("leavePercent")}
      />
      <Checkbox isSelected={values.isNightly} onChange={(isNightly) => form.set({ isNightly })}>
        {t("rosters.isNightly")}
      </Checkbox>
      {values.isNightly ? (
        <NumberField
          label={t("rosters.nightlyHour")}
          hint={t("rosters.nightlyHourHint")}
          minValue={0}
          maxValue={23}
          {...form.field("nightlyHour")}
        />
      ) : null}
    </FormDialog>
  );
}
