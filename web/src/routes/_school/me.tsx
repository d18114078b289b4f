import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { isStaff, me } from "../../lib/session";
import { Address } from "../../me/Address";
import { Comfort } from "../../me/Comfort";
import { Devices } from "../../me/Devices";
import { OwnData } from "../../me/OwnData";
import { Password } from "../../me/Password";
import { Profile } from "../../me/Profile";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/me")({
  validateSearch: (search: Record<string, unknown>): { address?: "changed" | "expired" } =>
    search.address === "changed" || search.address === "expired" ? { address: search.address } : {},
  component: OwnAccount,
});

/** The profile: name, language, password, sessions, own data. */
function OwnAccount() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const { address } = Route.useSearch();
  const known = useQuery(me).data ?? person;
  return (
    <div className="mx-auto flex max-w-3xl flex-col gap-4">
      <Heading title={t("account.profile")}>{t("account.profile")}</Heading>
      <Profile person={known} />
      <Address person={known} told={address} />
      <Password person={known} />
      {isStaff(known) ? <Comfort /> : null}
      <Devices />
      <OwnData />
    </div>
  );
}
